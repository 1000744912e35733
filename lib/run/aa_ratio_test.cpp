// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/aa_ratio.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace attnbench {
namespace {

Record timed(const std::string& backend, double us) {
  Record r;
  r.case_id = "case";
  r.backend = backend;
  r.outcome = Completed{.speed = Speed::kClaimed};
  r.timing.median_us = us;
  for (int round = 0; round < 12; ++round) r.timing.blocks.push_back({round, us});
  return r;
}

TEST(AaRatio, is_the_second_over_the_first) {
  std::vector<Record> records{timed("a", 100), timed("b", 1), timed("a#2", 102)};
  add_aa_ratio(records);
  EXPECT_EQ(records[2].aa.pairs, 12);
  EXPECT_NEAR(records[2].aa.median, 1.02, 1e-9);
  EXPECT_EQ(records[0].aa.pairs, 0);
}

TEST(AaRatio, looks_for_the_same_cell_only) {
  std::vector<Record> records{timed("a", 100), timed("a", 50), timed("a", 25), timed("a", 10),
                              timed("a#2", 100)};
  records[0].case_id = "another";
  records[1].cache = CacheState::kWarm;
  records[2].launch = LaunchMode::kGraph;
  records[3].outcome = Incorrect{.reason = "wrong", .timed = true};
  add_aa_ratio(records);
  EXPECT_EQ(records[4].aa.pairs, 0);
}

TEST(AaRatio, says_nothing_of_cells_that_were_not_timed_or_are_no_second) {
  std::vector<Record> records{timed("a", 100), timed("a#2", 100)};
  records[1].outcome = Completed{};
  add_aa_ratio(records);
  EXPECT_EQ(records[1].aa.pairs, 0);
  records[1] = timed("b", 100);
  add_aa_ratio(records);
  EXPECT_EQ(records[1].aa.pairs, 0);
  add_aa_ratio({});
}

}  // namespace
}  // namespace attnbench
