// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/file_plugins.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lib/backend/plugin.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/isolate/child_output.h"
#include "lib/isolate/child_process.h"
#include "lib/isolate/fields.h"
#include "lib/isolate/worker.h"

namespace attnbench {
namespace {

using nlohmann::json;

constexpr const char* kError = "error";

std::vector<BackendInfo> backends_of_object(const std::string& path, const Describing& describing) {
  const ChildOutput output = output_of_description(
      {ChildProcess::kThisProgram, kDescribeCommand, path, std::to_string(getpid())}, path,
      describing);
  const std::string last = output.last_line();
  const json answer = json::parse(last, nullptr, false);
  if (output.is_well() && answer.is_object() && answer.contains(kError)) {
    throw ConfigError(answer.at(kError).get<std::string>());
  }
  try {
    if (output.is_well() && answer.is_array()) {
      return from_json_fields<std::vector<BackendInfo>>(answer);
    }
  } catch (const json::exception&) {
  }
  throw PluginCrashed(fmt::format(
      "plug-in {}: its process {} while it said which backends it holds{}{}", path, output.end,
      last.empty() || answer.is_array() ? "" : ": ", answer.is_array() ? "" : last));
}

}  // namespace

void add_file_backend(BackendInfo info, const std::string& absence, std::vector<std::string> host,
                      const std::string& path, Registry& registry) {
  if (registry.find(info.name) != nullptr) {
    throw ConfigError(fmt::format(
        "plug-in {}: there is a backend '{}' already; give it another name", path, info.name));
  }
  if (absence.empty()) {
    registry.add_hosted(std::move(info), std::move(host), path);
  } else {
    registry.add_absent(std::move(info), absence, path);
  }
}

void add_object_plugin(const std::string& path, const std::string& cuda_absence, Registry& registry,
                       const Describing& describing) {
  for (BackendInfo& info : backends_of_object(path, describing)) {
    check_backend_name(info.name, path);
    const std::string absence = info.device == DeviceKind::kCuda ? cuda_absence : "";
    add_file_backend(
        std::move(info), absence,
        describing.confined({ChildProcess::kThisProgram, kWorkerCommand, "--object", path}), path,
        registry);
  }
}

void describe_object_plugin(const std::string& path) {
  json answer;
  try {
    Registry registry;
    load_plugin(path, "", registry);
    std::vector<BackendInfo> infos;
    for (const Registry::Entry& entry : registry.entries()) infos.push_back(entry.info);
    answer = to_json_fields(std::move(infos));
  } catch (const ConfigError& error) {
    answer[kError] = error.diagnostics().front().message;
  }
  // A line of its own, behind whatever the object has printed. Its exit handlers do not run.
  std::fflush(stdout);
  std::printf("\n%s\n", answer.dump(-1, ' ', false, json::error_handler_t::replace).c_str());
  std::fflush(stdout);
  _exit(static_cast<int>(ExitCode::kOk));
}

}  // namespace attnbench
