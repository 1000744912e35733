// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/time_account.h"

#include <gmock/gmock.h>

#include <cmath>
#include <thread>

namespace attnbench {
namespace {

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
