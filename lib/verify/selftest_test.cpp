// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "lib/verify/selftest.h"

namespace attnbench {
namespace {

TEST(Selftest, catches_every_fault_and_never_blames_the_correct_backend) {
  const auto device = make_cpu_device();
  const SelftestMatrix matrix = run_selftest(*device, selftest_cases(), all_faults());
  EXPECT_GE(matrix.mutants.size(), 15u);
  EXPECT_EQ(matrix.fills.size(), 6u);
  for (const SelftestRow& row : matrix.mutants) EXPECT_TRUE(row.blamed()) << to_string(row.fault);
  EXPECT_FALSE(matrix.correct.blamed()) << matrix.correct.reason();
  EXPECT_TRUE(matrix.sound());
}

TEST(Selftest, sees_a_difference_between_runs_only_where_it_runs_twice) {
  const auto device = make_cpu_device();
  const SelftestMatrix matrix =
      run_selftest(*device, selftest_cases(), {Fault::kDiffersBetweenRuns});
  for (std::size_t f = 0; f < matrix.fills.size(); ++f) {
    const Fill fill = matrix.fills[f];
    const Verification& result = matrix.mutants[0].by_fill[f];
    const bool twice = fill == Fill::kNormal || fill == Fill::kTiming;
    EXPECT_EQ(is_failure(result.verdict), twice) << to_string(fill) << ": " << result.reason;
    EXPECT_EQ(result.reason.find("two runs differ in 1 element") != std::string::npos, twice)
        << result.reason;
  }
}

TEST(Selftest, is_not_sound_when_a_fault_gets_through) {
  const auto device = make_cpu_device();
  // Without a tree in any case there is nothing to ignore.
  const SelftestMatrix matrix =
      run_selftest(*device, {selftest_cases().front()}, {Fault::kThrows, Fault::kIgnoresTree});
  EXPECT_TRUE(matrix.mutants[0].blamed());
  EXPECT_FALSE(matrix.mutants[1].blamed());
  EXPECT_FALSE(matrix.sound());
}

TEST(Selftest, is_not_sound_when_the_correct_backend_is_doubted) {
  const auto device = make_cpu_device();
  Case weak = selftest_cases().front();
  weak.requests.resize(1);  // one key: agreement proves little
  const SelftestMatrix matrix = run_selftest(*device, {weak}, {Fault::kThrows});
  EXPECT_FALSE(matrix.correct.blamed());
  EXPECT_FALSE(matrix.sound());
}

}  // namespace
}  // namespace attnbench
