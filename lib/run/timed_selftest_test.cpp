// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/timed_selftest.h"

#include <gmock/gmock.h>

namespace attnbench {
namespace {

using testing::HasSubstr;

/// Once for all tests that read it.
const TimedSelftest& on_the_cpu() {
  static const TimedSelftest selftest = [] {
    Devices devices;
    devices.push_back(make_cpu_device(2));
    return run_timed_selftest(devices, all_timed_faults());
  }();
  return selftest;
}

TEST(TimedSelftests, blame_every_fault_that_only_timed_launches_show) {
  for (const TimedSelftestRow& row : on_the_cpu().mutants) {
    for (const TimedVerdict& each : row.by_launch) {
      EXPECT_EQ(each.verdict, Verdict::kIncorrect) << to_string(row.fault);
      EXPECT_THAT(each.reason, HasSubstr("timed")) << "verification found it before";
    }
  }
  EXPECT_GE(on_the_cpu().mutants.size(), 8u);
}

TEST(TimedSelftests, never_blame_the_correct_backend) {
  for (const TimedVerdict& each : on_the_cpu().correct.by_launch) {
    EXPECT_EQ(each.verdict, Verdict::kPassed) << each.reason;
  }
  EXPECT_TRUE(on_the_cpu().sound());
}

TEST(TimedSelftests, name_the_sample_and_the_launch_mode) {
  const auto& mutants = on_the_cpu().mutants;
  const auto found =
      std::ranges::find(mutants, TimedFault::kComputesAllInOne, &TimedSelftestRow::fault);
  ASSERT_NE(found, mutants.end());
  EXPECT_THAT(found->by_launch.front().reason, HasSubstr("in timed sample "));
  EXPECT_THAT(found->by_launch.front().reason, HasSubstr(" of the eager launches: "));
}

TEST(TimedSelftests, are_unsound_when_a_mutant_gets_through) {
  TimedSelftest selftest = on_the_cpu();
  selftest.mutants.front().by_launch.front().verdict = Verdict::kPassed;
  EXPECT_FALSE(selftest.sound());
}

}  // namespace
}  // namespace attnbench
