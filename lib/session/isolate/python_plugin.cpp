// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/isolate/python_plugin.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "lib/backend/plugin.h"
#include "lib/base/embedded_file.h"
#include "lib/base/error.h"
#include "lib/base/shell_text.h"

namespace attnbench {

/// Holds python_host.py alone.
std::span<const EmbeddedFile> embedded_python_host();

namespace {

using nlohmann::json;

struct Output {
  std::string text;
  int exit_code = 0;
};

/// What a command writes to its standard output.
Output output_of(const std::string& command) {
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), nullptr);
  if (!pipe) throw EnvironmentError("cannot start a shell: " + command);
  Output output;
  std::array<char, 4096> part;
  while (const std::size_t size = fread(part.data(), 1, part.size(), pipe.get())) {
    output.text.append(part.data(), size);
  }
  const int status = pclose(pipe.release());
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  return output;
}

/// The descriptions of a file's backends. On failure the last line says why: standard error is
/// written to the same place as the descriptions.
json described(const std::string& path, const PythonHost& host) {
  const std::string text(embedded_python_host().front().text);
  const std::string command = shell_text({host.python, "-c", text, "describe", path});
  // Both streams, so that an error can be told; descriptions are the last line.
  const Output output = output_of(command + " 2>&1 < /dev/null");
  const std::string all = output.text.substr(0, output.text.find_last_not_of('\n') + 1);
  const std::string last = all.substr(all.rfind('\n') + 1);
  if (output.exit_code == 127 || output.exit_code == 126) {
    throw EnvironmentError(
        fmt::format("{}: {} cannot be run; --python names the interpreter", path, host.python));
  }
  if (output.exit_code != 0) {
    const bool elsewhere = last.find("ModuleNotFoundError") != std::string::npos;
    throw ConfigError(fmt::format(
        "plug-in {}: {}{}", path, last,
        elsewhere ? fmt::format(" for {}; --python names another interpreter", host.python) : ""));
  }
  try {
    return json::parse(last);
  } catch (const json::exception&) {
    throw ConfigError(
        fmt::format("plug-in {}: {} did not describe its backends: {}", path, host.python, last));
  }
}

CudaGraphSupport graph_support_of(const std::string& word) {
  using enum CudaGraphSupport;
  for (const CudaGraphSupport each : {kNever, kUniformSingleTokenDecode, kUniformBatch, kAlways}) {
    if (to_string(each) == word) return each;
  }
  throw ConfigError(
      fmt::format("graph_support '{}' is none of NEVER, "
                  "UNIFORM_SINGLE_TOKEN_DECODE, UNIFORM_BATCH, ALWAYS",
                  word));
}

BackendInfo info_of(const json& described, const std::string& path) {
  BackendInfo info;
  info.name = described.at("name");
  check_backend_name(info.name, path);
  info.version = described.at("version");
  info.packages = described.at("packages");
  info.kernel = described.at("kernel");
  info.description = described.at("description");
  info.index_format = described.at("index_format");
  info.device = described.at("device") == "cuda" ? DeviceKind::kCuda : DeviceKind::kCpu;
  info.deterministic = described.at("deterministic");
  info.cuda_graph = graph_support_of(described.at("graph_support"));
  info.padding_seq_len = described.at("padding_seq_len");
  info.writes_kv = described.at("writes_kv");
  info.reads_fp8_queries = described.at("reads_fp8_queries");
  info.writes_fp8_outputs = described.at("writes_fp8_outputs");
  info.reads_queries_apart = described.at("reads_queries_apart");
  info.by_default = !described.at("only_by_name").get<bool>();
  info.engine_flag = described.at("engine_flag");
  return info;
}

}  // namespace

void load_python_plugin(const std::string& path, const PythonHost& host,
                        const std::string& cuda_absence, Registry& registry) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw ConfigError(fmt::format("plug-in {}: there is no such file", path));
  }
  if (!std::filesystem::is_regular_file(host.worker_library, ignored)) {
    throw EnvironmentError(fmt::format(
        "plug-in {}: there is no {}, which Python needs to load; build all of attnbench", path,
        host.worker_library));
  }
  const std::string text(embedded_python_host().front().text);
  for (const json& each : described(path, host)) {
    BackendInfo info = info_of(each, path);
    if (registry.find(info.name) != nullptr) {
      throw ConfigError(fmt::format(
          "plug-in {}: there is a backend '{}' already; give it another name", path, info.name));
    }
    std::string absence = info.device == DeviceKind::kCuda ? cuda_absence : "";
    const std::string missing = each.at("absence");
    if (!missing.empty()) absence += (absence.empty() ? "" : "; ") + missing;
    if (!absence.empty()) {
      registry.add_absent(std::move(info), absence, path);
      continue;
    }
    registry.add_hosted(std::move(info),
                        {host.python, "-c", text, "worker", path, host.worker_library}, path);
  }
}

}  // namespace attnbench
