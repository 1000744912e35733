// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

namespace attnbench {
namespace {

Record ended(Outcome outcome) {
  Record record;
  record.outcome = std::move(outcome);
  record.timing.median_us = 2;
  record.cost.bytes_unique = 6000;
  return record;
}

TEST(Outcome, claims_a_speed_only_for_a_timed_cell_that_did_not_fail) {
  EXPECT_EQ(ended(Completed{Check::kMistrusted, Speed::kClaimed}).gb_per_s(), 3);
  for (const Outcome& outcome :
       {Outcome(Completed{}), Outcome(Completed{Check::kPassed, Speed::kImpossible}),
        Outcome(Incorrect{"wrong", true}), Outcome(Unsupported{"no"}), Outcome(Skipped{"stopped"}),
        Outcome(Crashed{"threw"})}) {
    EXPECT_EQ(ended(outcome).gb_per_s(), 0) << to_string(verdict_of(outcome));
  }
}

TEST(Outcome, of_a_wrong_or_impossible_cell_is_a_failure_though_it_was_timed) {
  const Record wrong = ended(Incorrect{"wrong", true});
  EXPECT_TRUE(wrong.is_timed());
  EXPECT_TRUE(wrong.has_failed());
  const Record impossible = ended(Completed{Check::kPassed, Speed::kImpossible, "too fast"});
  EXPECT_TRUE(impossible.is_timed());
  EXPECT_TRUE(impossible.has_failed());
  EXPECT_EQ(impossible.verdict(), Verdict::kPassed);
  EXPECT_FALSE(ended(Skipped{"stopped"}).has_failed());
  EXPECT_TRUE(ended(Crashed{"threw"}).has_failed());
}

TEST(Outcome, of_every_kind_has_a_verdict_and_a_reason) {
  EXPECT_EQ(verdict_of(Unsupported{"no tree mask"}), Verdict::kUnsupported);
  EXPECT_EQ(reason_of(Unsupported{"no tree mask"}), "no tree mask");
  const Outcome skipped = Skipped{"out of memory", HarnessError::kEnvironment};
  EXPECT_EQ(verdict_of(skipped), Verdict::kSkipped);
  EXPECT_EQ(harness_error_of(skipped), HarnessError::kEnvironment);
  EXPECT_EQ(harness_error_of(Crashed{"threw"}), HarnessError::kNone);
  EXPECT_EQ(verdict_of(Completed{}), Verdict::kNotVerified);
}

using std::chrono::milliseconds;

TEST(TimeAccount, has_each_part_once) {
  TimeAccount account;
  double next = 1;
  for (const TimePart& part : kTimeParts) account.*part.seconds += next *= 2;
  EXPECT_EQ(sum_of_parts(account), 2 * (std::exp2(kTimeParts.size()) - 1));
  EXPECT_EQ(sizeof(TimeAccount), kTimeParts.size() * sizeof(double)) << "a part is not listed";
}

TEST(Lap, counts_what_it_gives_away_in_the_other_part_only) {
  double part = 0, other = 0;
  {
    Lap lap(part);
    std::this_thread::sleep_for(milliseconds(20));
    lap.give(0.005, other);
    lap.give(1000, other);  // no more than has passed
    EXPECT_LE(other, lap.seconds());
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_GE(other, 0.02);
  EXPECT_GE(part, 0.005);
  EXPECT_LT(part, other) << "counted twice";
}

}  // namespace

}  // namespace attnbench
