// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "lib/device/cuda/cuda_device.h"
#include "lib/run/timed_selftest.h"

namespace attnbench {
namespace {

TEST(TimedSelftestsOnAGpu, blame_every_fault_in_the_launch_modes_where_it_shows) {
  if (const std::string absence = cuda_absence(); !absence.empty()) GTEST_SKIP() << absence;
  Devices devices;
  devices.push_back(make_cpu_device());
  devices.push_back(make_cuda_device());
  const TimedSelftest selftest = run_timed_selftest(devices, all_timed_faults());
  EXPECT_TRUE(selftest.correct.judged_rightly());
  for (const TimedSelftestRow& row : selftest.mutants) {
    ASSERT_EQ(row.by_launch.size(), 2u);
    for (const TimedVerdict& each : row.by_launch) {
      if (!shows_in(row.fault, each.launch)) continue;
      EXPECT_EQ(each.verdict, Verdict::kIncorrect)
          << to_string(row.fault) << ", " << to_string(each.launch) << ": " << each.reason;
    }
  }
  EXPECT_GE(selftest.mutants.size(), 10u);
}

}  // namespace
}  // namespace attnbench
