// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/driver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "lib/base/error.h"
#include "lib/base/sha256.h"
#include "lib/fixture/pool_demand.h"
#include "lib/run/backend_choice.h"
#include "lib/run/case_run.h"
#include "lib/run/processor_load.h"
#include "lib/session/aa_pairs.h"
#include "lib/session/local_executor.h"

namespace attnbench {

namespace {

/// Each case once for each part of a step that is asked for.
std::vector<Case> parts_of(const std::vector<const Case*>& cases, const MeasureConfig& measure) {
  std::vector<Case> parts;
  for (const Case* c : cases) {
    for (const StepPart step : measure.step) {
      parts.push_back(with_step(*c, step));
    }
  }
  return parts;
}

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

/// Shows what an earlier run has measured.
void repeat(const std::vector<Record>& records, const Case& c, const Cost& cost, std::size_t index,
            std::size_t count, const RunHooks& hooks) {
  if (hooks.case_started) hooks.case_started(c, cost, index, count);
  for (const Record& record : records) {
    if (hooks.record) hooks.record(record);
  }
  if (hooks.case_finished) hooks.case_finished(c);
}

}  // namespace

void check_run(const Scenario& scenario, const Registry& registry, const RunFilter& filter) {
  static_cast<void>(choose_backends(scenario, registry, filter));
  for (const Case* c : select_cases(scenario, filter)) {
    if (c->kv_cache.pool_tokens > 0)
      static_cast<void>(pool_demand(*c));  // throws when the pool is too small
    static_cast<void>(count_cost(*c));     // throws when it exceeds 63 bits
  }
}

RunResult run_scenario(const Scenario& scenario, const Registry& registry, Executor& executor,
                       const RunFilter& filter, const RunHooks& hooks) {
  const auto begin = std::chrono::steady_clock::now();
  check_run(scenario, registry, filter);  // before anything is measured
  const std::vector<Case> cases = parts_of(select_cases(scenario, filter), scenario.measure);
  std::vector<const Registry::Entry*> backends = choose_backends(scenario, registry, filter);
  AaPairs pairs;
  if (scenario.measure.aa) backends = pairs.of(backends);
  std::vector<Cost> costs;
  for (const Case& c : cases) costs.push_back(count_cost(c));

  RunResult result;
  std::vector<RunDevice> used = [&] {
    Lap lap(result.spent.starting);
    std::vector<RunDevice> prepared = executor.prepare(backends);
    double ceilings_s = 0;  // counted at the end: some are measured again
    for (const RunDevice& each : prepared) lap.give(each.ceilings_s, ceilings_s);
    return prepared;
  }();
  const RunDevice* const shown = main_device(used);
  result.environment = describe_environment(shown ? shown->info : executor.host());
  result.scenarios = {{scenario.name, scenario.path, scenario.sha256, scenario.seed,
                       fmt::format("{}", fmt::join(scenario.command.options, " ")),
                       scenario.configs}};
  result.plugins = plugins_of(backends);
  for (const RunDevice& each : used) {
    result.devices.push_back({each.info, each.ceilings, each.ceilings_utc});
  }
  if (shown) result.ceilings = shown->ceilings;
  for (const Registry::Entry* entry : host_stands_in(scenario, registry, filter)) {
    result.stand_ins.push_back(entry->info.name);
  }
  const ProcessorLoad whole;
  if (hooks.started) hooks.started(result);

  ProcessorLoad load;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    if (load.seconds() > kLoadWindowS) load = ProcessorLoad();
    CaseRun run(scenario, c, costs[i], executor, used, hooks);
    const auto taking_part = backends_of(c, backends, !result.stand_ins.empty());
    std::vector<Record> records;
    if (hooks.measured_before) records = hooks.measured_before(c, taking_part);
    if (!records.empty()) {
      repeat(records, c, costs[i], i, cases.size(), hooks);
    } else if (hooks.stop_requested && hooks.stop_requested()) {
      records = run.skip(taking_part, "interrupted");
    } else {
      if (hooks.case_started) hooks.case_started(c, costs[i], i, cases.size());
      records = run.run(taking_part, result.spent, load);
      if (hooks.case_finished) hooks.case_finished(c);
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

RunResult run_scenario(const Scenario& scenario, const Registry& registry, const Devices& devices,
                       const RunFilter& filter, const RunHooks& hooks) {
  expects(!devices.empty(), "a run needs a device");
  LocalExecutor executor(devices);
  return run_scenario(scenario, registry, executor, filter, hooks);
}

}  // namespace attnbench
