// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "lib/base/error.h"
#include "lib/result/result_reader.h"

namespace attnbench {
namespace {

bool is_kept(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
}

/// Lower case, with one hyphen for whatever a path or a shell could take for something else.
std::string as_file_name(const std::string& text) {
  std::string name;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (is_kept(c) && !(name.empty() && c == '.')) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "unnamed" : name;
}

}  // namespace

std::string machine_folder(const DeviceInfo& device) {
  const std::string name = as_file_name(device.name);
  if (device.kind == DeviceKind::kCuda) return name;
  return fmt::format("{}-{}-thread{}", name, device.units, device.units == 1 ? "" : "s");
}

std::string baseline_path(const std::string& folder, const RunResult& run,
                          const std::string& scenario) {
  return (std::filesystem::path(folder) / machine_folder(run.environment.device) /
          (as_file_name(scenario) + ".json"))
      .string();
}

RunResult part_of(const RunResult& run, const ScenarioSource& scenario) {
  RunResult part = run;
  part.scenarios = {scenario};
  std::erase_if(part.records,
                [&](const Record& record) { return record.scenario != scenario.name; });
  return part;
}

RunResult read_baselines(const std::string& folder, const RunResult& now) {
  std::string missing;
  for (const ScenarioSource& scenario : now.scenarios) {
    const std::string path = baseline_path(folder, now, scenario.name);
    if (!std::filesystem::exists(path)) missing += (missing.empty() ? "" : ", ") + path;
  }
  if (!missing.empty()) {
    throw EnvironmentError(
        fmt::format("there is no baseline {}; `attnbench baseline update` makes one", missing));
  }
  RunResult base;
  for (const ScenarioSource& scenario : now.scenarios) {
    const std::string path = baseline_path(folder, now, scenario.name);
    RunResult run = read_results(path);
    if (run.scenarios.size() != 1 || run.scenarios.front().name != scenario.name) {
      throw ConfigError(
          fmt::format("{}: is not a baseline of scenario '{}' alone", path, scenario.name));
    }
    if (base.scenarios.empty()) {
      base = std::move(run);
    } else {
      append(base, std::move(run));
    }
  }
  return base;
}

void expect_fit_for_a_baseline(const RunResult& run) {
  if (run.interrupted) throw ConfigError("an interrupted run is no baseline");
  const auto failed = std::ranges::find_if(run.records, &Record::has_failed);
  if (failed != run.records.end()) {
    throw ConfigError(fmt::format("a wrong result is no baseline: {} of {} is {}: {}",
                                  failed->backend, failed->case_id, to_string(failed->verdict()),
                                  failed->reason()));
  }
  if (run.scenarios.empty()) throw ConfigError("a result without a scenario is no baseline");
  for (const ScenarioSource& scenario : run.scenarios) {
    const bool timed = std::ranges::any_of(run.records, [&](const Record& record) {
      return record.scenario == scenario.name && record.claims_speed();
    });
    if (!timed) {
      throw ConfigError(
          fmt::format("no cell of scenario '{}' has a time: that is no baseline", scenario.name));
    }
  }
}

std::vector<KeptBaseline> list_baselines(const std::string& folder) {
  std::error_code error;
  const std::filesystem::recursive_directory_iterator files(folder, error);
  if (error) throw EnvironmentError(fmt::format("{}: {}", folder, error.message()));
  std::vector<KeptBaseline> found;
  for (const auto& entry : files) {
    if (!entry.is_regular_file() || entry.path().extension() != ".json") continue;
    found.push_back({entry.path().string(), read_results(entry.path().string())});
  }
  std::ranges::sort(found, {}, &KeptBaseline::path);
  return found;
}

}  // namespace attnbench
