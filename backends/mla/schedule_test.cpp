// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/mla/plan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <random>
#include <utility>

namespace attnbench::mla {
namespace {

constexpr std::int64_t kStart = 2;  ///< what a piece costs beyond its steps

std::int64_t cost_of(const Schedule& schedule, std::size_t part) {
  std::int64_t cost = 0;
  for (std::size_t i = schedule.part_begin[part]; i < schedule.part_begin[part + 1]; ++i) {
    cost += schedule.pieces[i].end - schedule.pieces[i].begin + kStart;
  }
  return cost;
}

bool is_whole(const Schedule& schedule, const std::vector<std::int64_t>& steps) {
  return schedule.pieces.size() == steps.size();
}

std::vector<std::vector<std::int64_t>> random_batches() {
  std::mt19937 random(11);
  const auto upto = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  std::vector<std::vector<std::int64_t>> batches;
  for (int i = 0; i < 300; ++i) {
    std::vector<std::int64_t> steps(static_cast<std::size_t>(1 + upto(i % 3 == 0 ? 2000 : 40)));
    const std::int64_t longest = i % 2 == 0 ? 9 : 500;
    for (std::int64_t& of : steps) of = 1 + upto(longest);
    batches.push_back(std::move(steps));
  }
  return batches;
}

TEST(MlaSchedule, gives_every_step_of_every_tile_to_one_part) {
  int cut = 0;
  for (const std::vector<std::int64_t>& steps : random_batches()) {
    const Schedule schedule = make_schedule(steps, 66);
    ASSERT_EQ(schedule.part_begin.size(), 67u);
    ASSERT_EQ(schedule.part_begin.front(), 0u);
    ASSERT_EQ(schedule.part_begin.back(), schedule.pieces.size());
    ASSERT_TRUE(std::is_sorted(schedule.part_begin.begin(), schedule.part_begin.end()));
    std::vector<std::int64_t> done(steps.size(), 0);  // a tile's pieces follow each other
    for (const Piece& piece : schedule.pieces) {
      ASSERT_EQ(piece.begin, done.at(piece.tile));
      ASSERT_LT(piece.begin, piece.end);
      done[piece.tile] = piece.end;
    }
    EXPECT_EQ(done, steps);
    cut += is_whole(schedule, steps) ? 0 : 1;
  }
  EXPECT_GT(cut, 30);
  EXPECT_LT(cut, 270);
}

TEST(MlaSchedule, says_how_much_the_part_with_most_to_do_has) {
  for (const std::vector<std::int64_t>& steps : random_batches()) {
    const Schedule schedule = make_schedule(steps, 66);
    std::int64_t most = 0;
    for (std::size_t part = 0; part < 66; ++part) most = std::max(most, cost_of(schedule, part));
    if (is_whole(schedule, steps)) {
      EXPECT_EQ(most, schedule.longest);
    } else {
      EXPECT_LE(most, schedule.longest);  // the cuts' limit
    }
  }
}

TEST(MlaSchedule, gives_whole_tiles_to_who_has_least_the_longest_first) {
  for (std::vector<std::int64_t> steps : random_batches()) {
    const Schedule schedule = make_schedule(steps, 66);
    if (!is_whole(schedule, steps)) continue;
    std::sort(steps.begin(), steps.end(), std::greater<>());
    std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> loads(
        std::greater<>(), std::vector<std::int64_t>(66, 0));
    std::vector<std::int64_t> want(66, 0), got;
    for (const std::int64_t of : steps) {
      const std::int64_t least = loads.top();
      loads.pop();
      loads.push(least + of + kStart);
    }
    for (std::int64_t& load : want) load = loads.top(), loads.pop();
    for (std::size_t part = 0; part < 66; ++part) got.push_back(cost_of(schedule, part));
    EXPECT_THAT(got, testing::UnorderedElementsAreArray(want));
  }
}

TEST(MlaSchedule, cuts_into_single_steps_where_there_are_few) {
  const Schedule schedule = make_schedule({8}, 66);
  EXPECT_EQ(schedule.pieces.size(), 8u);
  EXPECT_EQ(schedule.longest, 1 + kStart);
}

TEST(MlaSchedule, does_not_cut_where_the_merge_would_cost_more) {
  EXPECT_TRUE(is_whole(make_schedule({2, 2}, 66), {2, 2}));  // 2 steps instead of 1: no gain
  EXPECT_FALSE(is_whole(make_schedule({3, 3}, 66), {3, 3}));
  const std::vector<std::int64_t> threes(17, 3), fives(17, 5);  // more to merge
  EXPECT_TRUE(is_whole(make_schedule(threes, 66), threes));
  EXPECT_FALSE(is_whole(make_schedule(fives, 66), fives));
}

TEST(MlaSchedule, of_nothing_has_empty_parts) {
  const Schedule schedule = make_schedule({}, 5);
  EXPECT_THAT(schedule.part_begin, testing::ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_TRUE(schedule.pieces.empty());
}

}  // namespace
}  // namespace attnbench::mla
