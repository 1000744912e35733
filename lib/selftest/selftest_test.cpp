// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "lib/selftest/selftest.h"

namespace attnbench {
namespace {

/// All faults on all cases, run once for the tests that read it.
const SelftestMatrix& whole_matrix() {
  static const SelftestMatrix matrix = [] {
    const auto device = make_cpu_device();
    return run_selftest(*device, selftest_cases(), all_faults());
  }();
  return matrix;
}

TEST(Selftest, catches_every_fault_and_never_blames_the_correct_backend) {
  const SelftestMatrix& matrix = whole_matrix();
  EXPECT_EQ(matrix.mutants.size(), all_faults().size());
  for (const SelftestRow& row : matrix.mutants) EXPECT_TRUE(row.blamed()) << to_string(row.fault);
  EXPECT_FALSE(matrix.correct.blamed()) << matrix.correct.reason();
  EXPECT_TRUE(matrix.sound());
}

/// Which fills catch a mutant: a mark each.
std::string marks(const SelftestRow& row) {
  std::string text;
  for (const Verification& each : row.by_fill) text += is_failure(each.verdict) ? 'x' : '.';
  return text;
}

// Each that is made for checking. `timing` is what gets timed, checked once: normal numbers under
// another seed, so that no fault of a kernel shows on one of the two alone, but by luck. The two
// count as one here, and timing alone may catch nothing.
TEST(Selftest, each_fill_catches_a_fault_that_no_other_does) {
  const SelftestMatrix& matrix = whole_matrix();
  std::map<std::string, std::set<std::string_view>> by_marks;
  for (const SelftestRow& row : matrix.mutants) by_marks[marks(row)].insert(to_string(row.fault));
  // needle, tag, sparse_int, extreme, normal, timing
  const std::map<std::string, std::set<std::string_view>> alone{
      {"x.....", {"long split drops its last key"}},
      {".x....", {"0 / 0 on a query of zeros"}},
      {"..x...", {"0 / 0 on a key of zeros"}},
      {"...x..", {"does not subtract the maximum", "starts the maximum at 0"}},
      {"....xx", {"long split keeps weights in fp8", "differs between runs"}},
  };
  for (const auto& [seen, faults] : alone) EXPECT_EQ(by_marks[seen], faults) << seen;
  EXPECT_TRUE(by_marks[".....x"].empty());
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
