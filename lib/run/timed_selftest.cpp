// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/timed_selftest.h"

#include <algorithm>

#include "lib/run/driver.h"
#include "lib/selftest/selftest.h"
#include "lib/selftest/timed_mutant.h"
#include "lib/session/local_executor.h"

namespace attnbench {
namespace {

/// Enough samples for the late faults to show, too few to time anything.
MeasureConfig few_samples(DeviceKind device) {
  MeasureConfig config;
  config.cache = {CacheState::kWarm};
  if (device == DeviceKind::kCuda) config.launch = {LaunchMode::kEager, LaunchMode::kGraph};
  config.min_rounds = config.max_rounds = 4;
  config.block_s = 0;
  config.min_block_samples = config.max_block_samples = 6;
  return config;
}

/// Decodes and extends in f32, and a draft tree in f16.
std::vector<Case> timed_cases() {
  std::vector<Case> cases;
  for (Case& c : selftest_cases()) {
    if (c.id == "mixed" || c.id == "tree") cases.push_back(std::move(c));
  }
  return cases;
}

TimedSelftestRow run_fault(const Devices& devices, TimedFault fault) {
  const DeviceKind device = devices.back()->info().kind;
  Scenario scenario;
  scenario.name = "selftest";
  scenario.seed = 7;
  scenario.cases = timed_cases();
  scenario.measure = few_samples(device);
  Registry registry;
  registry.add([=] { return std::make_unique<TimedMutant>(fault, device); });
  // No speed is claimed here, so the ceilings are too high for any cell to exceed.
  LocalExecutor executor(devices, [](Device&) { return Ceilings{1e18, 1e18, 1e18}; });
  const RunResult result = run_scenario(scenario, plan_run(scenario, registry, {}), executor, {});

  TimedSelftestRow row{fault, {}};
  for (const LaunchMode launch : scenario.measure.launch) {
    TimedVerdict first{launch, Verdict::kNotVerified, {}};
    for (const Record& record : result.records) {
      if (record.launch != launch || is_failure(first.verdict)) continue;
      first.verdict = record.verdict();
      first.reason = record.reason().empty() ? "" : record.case_id + ": " + record.reason();
    }
    row.by_launch.push_back(first);
  }
  return row;
}

}  // namespace

bool TimedSelftestRow::judged_rightly() const {
  return !by_launch.empty() && std::ranges::all_of(by_launch, [&](const TimedVerdict& each) {
    const bool failed = each.verdict == Verdict::kIncorrect;
    const bool passed = each.verdict == Verdict::kPassed;
    // A fault of another launch mode may show here as well, through what both share.
    return shows_in(fault, each.launch) ? failed : passed || fault != TimedFault::kNone;
  });
}

bool TimedSelftest::sound() const {
  return !mutants.empty() && correct.judged_rightly() &&
         std::ranges::all_of(mutants, &TimedSelftestRow::judged_rightly);
}

TimedSelftest run_timed_selftest(const Devices& devices, const std::vector<TimedFault>& faults) {
  TimedSelftest selftest;
  selftest.correct = run_fault(devices, TimedFault::kNone);
  for (const TimedFault fault : faults) {
    if (exists_on(fault, devices.back()->info().kind)) {
      selftest.mutants.push_back(run_fault(devices, fault));
    }
  }
  return selftest;
}

}  // namespace attnbench
