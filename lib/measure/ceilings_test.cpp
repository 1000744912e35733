// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "lib/measure/ceilings.h"

namespace attnbench {
namespace {

struct Found {
  Ceilings best;
  std::size_t turns = 0;
};
Found best_of(const std::vector<Ceilings>& turns) {
  Found found;
  found.best = best_of_turns(static_cast<int>(turns.size()), [&] { return turns[found.turns++]; });
  return found;
}

TEST(BestOfTurns, ends_with_the_second_turn_where_it_comes_to_the_same) {
  const Found found = best_of({{100, 50, 10}, {99, 51, 10}, {200, 200, 200}, {1, 1, 1}});
  EXPECT_EQ(found.turns, 2u);
  EXPECT_EQ(found.best.read_bytes_per_s, 100);
  EXPECT_EQ(found.best.copy_bytes_per_s, 51);
}

TEST(BestOfTurns, goes_on_after_a_turn_that_was_disturbed) {
  // Halved as by other work on one of two processors: in the first turn, and in the second.
  EXPECT_EQ(best_of({{50, 25, 5}, {100, 50, 10}, {100, 50, 10}, {1, 1, 1}}).turns, 3u);
  const Found second = best_of({{100, 50, 10}, {50, 25, 5}, {50, 25, 5}, {99, 50, 10}});
  EXPECT_EQ(second.turns, 4u);
  EXPECT_EQ(second.best.flop_per_s, 10);
}

TEST(BestOfTurns, wants_each_rate_to_agree) {
  EXPECT_EQ(best_of({{100, 50, 5}, {100, 50, 10}, {100, 50, 10}}).turns, 3u);
  EXPECT_EQ(best_of({{100, 40, 10}, {100, 50, 10}, {100, 50, 10}}).turns, 3u);
  EXPECT_EQ(best_of({{90, 50, 10}, {100, 50, 10}, {100, 50, 10}}).turns, 3u);
}

TEST(BestOfTurns, takes_one_turn_where_no_more_is_wanted) {
  EXPECT_EQ(best_of({{1, 2, 3}}).turns, 1u);
}

TEST(MultiplyAdds, exist_for_every_instruction_set_of_this_processor) {
  for (const CpuTarget target : cpu_targets()) {
    EXPECT_FALSE(multiply_adds(target).empty()) << to_string(target);
    for (const MultiplyAdd& each : multiply_adds(target)) {
      EXPECT_GE(each.flop_per_step, 2 * 10 * 4) << to_string(target);
      EXPECT_TRUE(std::isfinite(each.run(1 << 20))) << to_string(target);
      EXPECT_NE(each.run(3), each.run(4)) << "the result depends on the steps";
    }
  }
}

TEST(MultiplyAdds, end_at_the_fixed_point_of_their_chains) {
  const MultiplyAdd f32 = multiply_adds(best_cpu_target()).front();
  const auto chain_lanes = static_cast<float>(f32.flop_per_step / 2);
  EXPECT_NEAR(f32.run(1 << 16) / chain_lanes, 1.0f, 1e-3f);
}

}  // namespace

}  // namespace attnbench
