// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/comparability.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lib/gate/policy.h"
#include "lib/result/record.h"
#include "lib/result/run_difference.h"

namespace attnbench {
namespace {

constexpr int kFreshDays = 30;

std::string told(const std::string& text) { return text.empty() ? "nothing" : text; }

std::string both(const std::string& base, const std::string& now) {
  return fmt::format("{} in the base, {} now", told(base), told(now));
}

std::string model_of(const DeviceInfo& device) {
  return fmt::format("{} ({}, {} units)", device.name, device.arch, device.units);
}

std::string major_of(const std::string& version) { return version.substr(0, version.find('.')); }

const ScenarioSource* source_of(const RunResult& run, const std::string& name) {
  const auto found = std::ranges::find(run.scenarios, name, &ScenarioSource::name);
  return found == run.scenarios.end() ? nullptr : &*found;
}

/// "v33: vllm==0.33.0 torch==2.14.0".
std::string packages_of(const Record& record) {
  const std::string& environment = record.environment.name;
  return environment.empty() ? record.packages : environment + ": " + record.packages;
}

/// Where cells of both call other versions of their packages, or there another kernel.
void add_remarks_on_packages(const RunResult& base, const RunResult& now,
                             std::vector<std::string>& remarks) {
  std::map<CellKey, const Record*> before;
  for (const Record& record : base.records) before.emplace(CellKey(record), &record);
  std::set<std::string> packages;
  std::map<std::string, int> kernels;  // how many cells
  for (const Record& record : now.records) {
    const auto found = before.find(CellKey(record));
    if (found == before.end() || found->second->packages == record.packages) continue;
    const Record& was = *found->second;
    packages.insert("packages: " + both(packages_of(was), packages_of(record)));
    if (was.kernel == record.kernel) continue;
    ++kernels[fmt::format("{}, another kernel: {}", record.backend,
                          both(was.kernel, record.kernel))];
  }
  remarks.insert(remarks.end(), packages.begin(), packages.end());
  for (const auto& [text, cells] : kernels) {
    remarks.push_back(cells == 1 ? text : fmt::format("{} ({} cells)", text, cells));
  }
}

}  // namespace

std::optional<int> age_in_days(const RunResult& run, std::chrono::year_month_day today) {
  const auto day = parse_date(run.environment.started_utc.substr(0, 10));
  if (!day) return std::nullopt;
  return static_cast<int>((std::chrono::sys_days(today) - std::chrono::sys_days(*day)).count());
}

std::vector<Difference> differences_of(const RunResult& base, const RunResult& now) {
  std::vector<Difference> differences;
  const auto compare = [&](const char* condition, const std::string& scenario,
                           const std::string& was, const std::string& is) {
    if (was != is) differences.push_back({condition, scenario, both(was, is)});
  };
  const DeviceInfo &was = base.environment.device, &is = now.environment.device;
  compare("device", "", model_of(was), model_of(is));
  if (major_of(was.driver) != major_of(is.driver)) compare("driver", "", was.driver, is.driver);
  if (major_of(was.cuda_version) != major_of(is.cuda_version)) {
    compare("cuda", "", was.cuda_version, is.cuda_version);
  }
  for (const ScenarioSource& source : now.scenarios) {
    const ScenarioSource* const earlier = source_of(base, source.name);
    if (earlier == nullptr) continue;
    if (source.sha256.empty() && earlier->sha256.empty()) {
      differences.push_back({"scenario", source.name, "a file without the hash of its scenario"});
    }
    compare("scenario", source.name, earlier->sha256.substr(0, 12), source.sha256.substr(0, 12));
    for (const InputFile& config : source.configs) {
      const auto other = std::ranges::find(earlier->configs, config.path, &InputFile::path);
      if (other == earlier->configs.end() || other->sha256 == config.sha256) continue;
      differences.push_back(
          {"scenario", source.name,
           config.path + ": " + both(other->sha256.substr(0, 12), config.sha256.substr(0, 12))});
    }
    compare("seed", source.name, std::to_string(earlier->seed), std::to_string(source.seed));
    compare("settings", source.name, earlier->options, source.options);
  }
  return differences;
}

std::vector<Difference> differences_of(const Record& base, const Record& now) {
  std::vector<Difference> differences;
  if (base.fixture_hash != now.fixture_hash) {
    differences.push_back({"contents", now.scenario, both(base.fixture_hash, now.fixture_hash)});
  }
  if (base.graph_forced != now.graph_forced) {
    const auto word = [](bool forced) { return forced ? "a forced graph" : "no forced graph"; };
    differences.push_back(
        {"settings", now.scenario, both(word(base.graph_forced), word(now.graph_forced))});
  }
  return differences;
}

std::vector<std::string> remarks_on(const RunResult& base, const RunResult& now,
                                    std::chrono::year_month_day today) {
  std::vector<std::string> remarks;
  const auto compare = [&](const char* what, const std::string& was, const std::string& is) {
    if (was != is) remarks.push_back(fmt::format("{}: {}", what, both(was, is)));
  };
  const Environment &was = base.environment, &is = now.environment;
  compare("host", was.hostname_hash, is.hostname_hash);
  compare("build type", was.build_type, is.build_type);
  compare("compiler", was.compiler, is.compiler);
  compare("driver", was.device.driver, is.device.driver);
  compare("CUDA", was.device.cuda_version, is.device.cuda_version);
  add_remarks_on_packages(base, now, remarks);
  if (const std::string found = plugin_difference(base, now); !found.empty()) {
    remarks.push_back(found + " (base, now)");
  }
  if (base.interrupted) remarks.emplace_back("the base is an interrupted run");
  if (now.interrupted) remarks.emplace_back("the new result is an interrupted run");
  const auto age = age_in_days(base, today);
  if (age && *age > kFreshDays) {
    remarks.push_back(fmt::format("the base is {} days old: time for a new one", *age));
  }
  return remarks;
}

}  // namespace attnbench
