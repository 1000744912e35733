// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/paired_ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace attnbench {
namespace {

using Blocks = std::vector<BlockMedian>;

TEST(PairedRatio, cancels_what_both_cells_see_in_a_round) {
  Blocks first, second;
  std::mt19937 random(7);
  for (int round = 0; round < 12; ++round) {
    const double weather = std::exp(0.3 * std::normal_distribution<double>()(random));
    first.push_back({round, 100 * weather});
    second.push_back({round, 103 * weather});
  }
  const PairedRatio ratio = paired_ratio(first, second);
  EXPECT_EQ(ratio.pairs, 12);
  EXPECT_NEAR(ratio.median, 1.03, 1e-9);
  EXPECT_NEAR(ratio.lo, 1.03, 1e-9);
  EXPECT_NEAR(ratio.hi, 1.03, 1e-9);
  EXPECT_NEAR(ratio.largest, 1.03, 1e-9);
  EXPECT_NEAR(ratio.floor(), 0.03, 1e-9);
  EXPECT_EQ(ratio.slower, 12);
}

TEST(PairedRatio, pairs_by_round_and_leaves_out_rounds_that_only_one_saw) {
  const Blocks first{{0, 100}, {1, 200}, {3, 400}};
  const Blocks second{{1, 200}, {2, 1}, {3, 800}, {4, 1}};
  const PairedRatio ratio = paired_ratio(first, second);
  EXPECT_EQ(ratio.pairs, 2);
  EXPECT_NEAR(ratio.median, std::sqrt(2.0), 1e-9) << "the middle of equal and double, in logs";
  EXPECT_NEAR(ratio.largest, 2, 1e-9);
}

TEST(PairedRatio, measures_the_largest_in_both_directions) {
  const PairedRatio ratio = paired_ratio(Blocks{{0, 100}, {1, 100}}, Blocks{{0, 110}, {1, 50}});
  EXPECT_NEAR(ratio.largest, 2, 1e-9);
}

TEST(PairedRatio, takes_the_farther_end_of_the_interval_for_the_floor) {
  Blocks first, second;
  for (int round = 0; round < 6; ++round) {  // six values: the interval is their whole range
    first.push_back({round, 100});
    second.push_back({round, round == 0 ? 95.0 : 101.0});
  }
  const PairedRatio ratio = paired_ratio(first, second);
  EXPECT_NEAR(ratio.lo, 0.95, 1e-9);
  EXPECT_NEAR(ratio.hi, 1.01, 1e-9);
  EXPECT_NEAR(ratio.floor(), 1 / 0.95 - 1, 1e-9);
}

TEST(PairedRatio, has_a_wider_interval_at_a_higher_level) {
  Blocks first, second;
  for (int round = 0; round < 20; ++round) {
    first.push_back({round, 100});
    second.push_back({round, 100.0 + round});
  }
  EXPECT_NEAR(paired_ratio(first, second, 0.95).lo, 1.05, 1e-9) << "the sixth of twenty";
  EXPECT_NEAR(paired_ratio(first, second, 0.99).lo, 1.03, 1e-9) << "the fourth of twenty";
}

TEST(PairedRatio, has_no_interval_below_six_pairs_and_then_no_floor) {
  Blocks blocks;
  for (int round = 0; round < 5; ++round) blocks.push_back({round, 100.0 + round});
  EXPECT_FALSE(paired_ratio(blocks, blocks).has_interval());
  EXPECT_EQ(paired_ratio(blocks, blocks).floor(), 0);
  blocks.push_back({5, 100});
  EXPECT_TRUE(paired_ratio(blocks, blocks).has_interval());
}

TEST(PairedRatio, of_nothing_in_common_is_nothing) {
  EXPECT_EQ(paired_ratio(Blocks{{0, 100}}, Blocks{{1, 100}}).pairs, 0);
  EXPECT_EQ(paired_ratio({}, {}).pairs, 0);
  EXPECT_EQ(paired_ratio(Blocks{{0, 0}}, Blocks{{0, 100}}).pairs, 0) << "below the clock's step";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(paired_ratio(Blocks{{0, nan}, {1, 100}}, Blocks{{0, 100}, {1, nan}}).pairs, 0);
}

}  // namespace
}  // namespace attnbench
