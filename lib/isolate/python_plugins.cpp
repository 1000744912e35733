// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/python_plugins.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "lib/backend/plugin.h"
#include "lib/base/embedded_file.h"
#include "lib/base/error.h"
#include "lib/isolate/child_output.h"
#include "lib/isolate/file_plugins.h"

namespace attnbench {

/// Holds backend.h and python_host.py.
std::span<const EmbeddedFile> embedded_python_host();

namespace {

using nlohmann::json;

/// No package makes up for a program that has no device for it.
#ifdef ATTNBENCH_HAVE_CUDA
constexpr bool kBuiltForGpus = true;
#else
constexpr bool kBuiltForGpus = false;
#endif

/// The program for an interpreter: it finds the C header, which it mirrors, in HEADER.
std::string host_text() {
  const std::span<const EmbeddedFile> files = embedded_python_host();
  return fmt::format("HEADER = r'''{}'''\n{}", files.front().text, files.back().text);
}

/// Of a file that cannot be imported, the last line of what Python prints says why.
json described(const std::string& path, const PythonHost& host) {
  ChildOutput output;
  try {
    output = output_of_child({host.python, "-c", host_text(), "describe", path}, kToDescribe);
  } catch (const EnvironmentError&) {
    throw EnvironmentError(
        fmt::format("{}: {} cannot be run; --python names the interpreter", path, host.python));
  }
  const std::string last = output.last_line();
  if (output.end == "exited with code 1" && !last.empty()) {
    const bool elsewhere = last.find("ModuleNotFoundError") != std::string::npos;
    throw ConfigError(fmt::format(
        "plug-in {}: {}{}", path, last,
        elsewhere ? fmt::format(" for {}; --python names another interpreter", host.python) : ""));
  }
  const json answer = json::parse(last, nullptr, false);
  if (output.is_well() && answer.is_array()) return answer;
  throw ConfigError(
      fmt::format("plug-in {}: its process, of {}, {} while it said which backends it holds{}{}",
                  path, host.python, output.end, last.empty() ? "" : ": ", last));
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
  for (const json& each : described(path, host)) {
    BackendInfo info = info_of(each, path);
    std::string absence = info.device == DeviceKind::kCuda ? cuda_absence : "";
    const std::string missing = each.at("absence");
    const bool would_help = absence.empty() || kBuiltForGpus;
    if (!missing.empty() && would_help) absence += (absence.empty() ? "" : "; ") + missing;
    add_file_backend(std::move(info), absence,
                     {host.python, "-c", host_text(), "worker", path, host.worker_library}, path,
                     registry);
  }
}

}  // namespace attnbench
