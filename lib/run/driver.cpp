// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/driver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "lib/base/sha256.h"
#include "lib/run/case_run.h"
#include "lib/run/processor_load.h"

namespace attnbench {

namespace {

/// The GPU, where one takes part, else the host's processor.
const RunDevice* main_device(std::span<const RunDevice> used) {
  for (const RunDevice& each : used) {
    if (each.info.kind == DeviceKind::kCuda) return &each;
  }
  return used.empty() ? nullptr : &used.front();
}

/// The system counts in steps of 10 ms: a case shorter than this is judged with what went before.
constexpr double kLoadWindowS = 1;

/// The files that these come from, each once.
std::vector<InputFile> plugins_of(const std::vector<const Registry::Entry*>& backends) {
  std::vector<InputFile> files;
  for (const Registry::Entry* entry : backends) {
    const std::string& path = entry->plugin;
    if (path.empty() || std::ranges::find(files, path, &InputFile::path) != files.end()) continue;
    files.push_back({path, sha256_of_file(path)});
  }
  return files;
}

/// As RunResult::environments has them.
std::vector<std::string> environments_of(const std::vector<const Registry::Entry*>& backends) {
  std::vector<std::pair<PythonEnvironment, std::set<std::string>>> environments;  // with packages
  for (const Registry::Entry* entry : backends) {
    const PythonEnvironment& of = entry->info.environment;
    if (of.name.empty()) continue;
    auto known = std::ranges::find(environments, of, [](const auto& each) { return each.first; });
    if (known == environments.end()) known = environments.insert(known, {of, {}});
    std::istringstream packages(entry->info.packages);
    for (std::string each; packages >> each;) known->second.insert(each);
  }
  std::vector<std::string> texts;
  for (const auto& [of, packages] : environments) {
    texts.push_back(fmt::format("{}: {}{}{}", of.name, fmt::join(packages, " "),
                                packages.empty() ? "" : " in ", of.python));
  }
  return texts;
}

/// Shows what an earlier run has measured.
void repeat(const std::vector<Record>& records, const PlannedCase& planned, const RunHooks& hooks) {
  if (hooks.case_started) hooks.case_started(planned.c, planned.cost);
  for (const Record& record : records) {
    if (hooks.record) hooks.record(record);
  }
  if (hooks.case_finished) hooks.case_finished(planned.c);
}

}  // namespace

RunResult run_scenario(const Scenario& scenario, const RunPlan& plan, Executor& executor,
                       const RunHooks& hooks) {
  const auto begin = std::chrono::steady_clock::now();
  RunResult result;
  std::vector<RunDevice> used = [&] {
    Lap lap(result.spent.starting);
    std::vector<RunDevice> prepared = executor.prepare(plan.entries);
    double ceilings_s = 0;  // counted at the end: some are measured again
    for (const RunDevice& each : prepared) lap.give(each.ceilings_s, ceilings_s);
    return prepared;
  }();
  const RunDevice* const shown = main_device(used);
  result.environment = describe_environment(shown ? shown->info : executor.host());
  result.scenarios = {{scenario.name, scenario.path, scenario.sha256, scenario.seed,
                       fmt::format("{}", fmt::join(scenario.command.options, " ")),
                       scenario.configs}};
  result.plugins = plugins_of(plan.entries);
  result.environments = environments_of(plan.entries);
  for (const RunDevice& each : used) {
    result.devices.push_back({each.info, each.ceilings, each.ceilings_utc});
  }
  if (shown) result.ceilings = shown->ceilings;
  for (const Registry::Entry* entry : plan.cpu_fallbacks) {
    result.cpu_fallbacks.push_back(entry->info.name);
  }
  const ProcessorLoad whole;
  if (hooks.started) hooks.started(result);

  ProcessorLoad load;
  for (const PlannedCase& planned : plan.cases) {
    if (load.seconds() > kLoadWindowS) load = ProcessorLoad();
    CaseRun run(scenario, planned, executor, used, hooks);
    std::vector<Record> records;
    if (hooks.measured_before) records = hooks.measured_before(planned.c, planned.backends);
    if (!records.empty()) {
      repeat(records, planned, hooks);
    } else if (hooks.stop_requested && hooks.stop_requested()) {
      records = run.skip();
    } else {
      if (hooks.case_started) hooks.case_started(planned.c, planned.cost);
      records = run.run(result.spent, load);
      if (hooks.case_finished) hooks.case_finished(planned.c);
    }
    std::ranges::move(records, std::back_inserter(result.records));
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    result.devices[i].ceilings = used[i].ceilings;
    result.devices[i].ceilings_utc = used[i].ceilings_utc;
    result.spent.ceilings += used[i].ceilings_s;
  }
  if (shown) result.ceilings = shown->ceilings;
  result.interrupted = std::ranges::any_of(result.records, [](const Record& r) {
    return r.timing.status == MeasureStatus::kInterrupted ||
           r.graph_n.timing.status == MeasureStatus::kInterrupted;
  });
  result.others = whole.others();
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.spent.other = std::max(0.0, result.wall_s - sum_of_parts(result.spent));
  return result;
}

}  // namespace attnbench
