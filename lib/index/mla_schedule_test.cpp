// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/mla_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "lib/base/error.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using Lens = std::vector<std::int32_t>;

std::vector<std::int32_t> fields(const MlaTile& tile) {
  return {tile.begin_req, tile.begin_block, tile.end_req, tile.end_block, tile.begin_split};
}

TEST(MlaSchedule, cuts_a_long_request_over_several_parts) {
  const MlaSchedule schedule = mla_schedule(Lens{1000, 5000}, 4);
  EXPECT_THAT(schedule.num_splits, ElementsAre(0, 1, 5));
  ASSERT_EQ(schedule.tiles.size(), 4u);
  EXPECT_THAT(fields(schedule.tiles[0]), ElementsAre(0, 0, 1, 6, 0));
  EXPECT_THAT(fields(schedule.tiles[1]), ElementsAre(1, 6, 1, 33, 1));
  EXPECT_THAT(fields(schedule.tiles[2]), ElementsAre(1, 33, 1, 60, 2));
  EXPECT_THAT(fields(schedule.tiles[3]), ElementsAre(1, 60, 1, 79, 3));
}

TEST(MlaSchedule, counts_a_block_for_a_request_without_keys) {
  EXPECT_THAT(mla_schedule(Lens{64, 0, 300}, 2).num_splits, ElementsAre(0, 1, 2, 3));
  // 4 x (1 + 5) blocks over 4 parts leave room for one request each.
  const MlaSchedule schedule = mla_schedule(Lens{0, 0, 0, 0}, 4);
  EXPECT_EQ(schedule.tiles[1].begin_req, 1);
  EXPECT_EQ(schedule.tiles[3].begin_req, 3);
}

TEST(MlaSchedule, of_a_whole_h200_splits_by_length) {
  EXPECT_EQ(mla_sm_parts(132, 128, 1, 1), 66);
  EXPECT_THAT(mla_schedule(Lens{1000, 5000, 300, 8192}, 66).num_splits,
              ElementsAre(0, 4, 24, 26, 58));
}

TEST(MlaSmParts, never_falls_below_one) {
  EXPECT_EQ(mla_sm_parts(132, 128, 1, 200), 1);
  EXPECT_EQ(mla_sm_parts(132, 16, 1, 1), 132);
}

TEST(MlaSchedule, covers_every_block_once_and_counts_its_splits) {
  std::mt19937 random(23);
  for (int trial = 0; trial < 200; ++trial) {
    Lens lens(random() % 12 + 1);
    for (std::int32_t& len : lens) len = static_cast<std::int32_t>(random() % 9000);
    const MlaSchedule schedule = mla_schedule(lens, static_cast<std::int64_t>(random() % 40) + 1);
    std::vector<std::int32_t> next_block(lens.size(), 0);
    std::vector<std::int32_t> splits(lens.size(), 0);
    for (const MlaTile& tile : schedule.tiles) {
      for (std::int32_t req = tile.begin_req; req <= tile.end_req; ++req) {
        const auto r = static_cast<std::size_t>(req);
        const std::int32_t begin = req == tile.begin_req ? tile.begin_block : 0;
        const std::int32_t blocks = std::max(lens[r] - 1, 0) / 64 + 1;
        const std::int32_t end = req == tile.end_req ? tile.end_block : blocks;
        if (begin == end) continue;
        if (req == tile.begin_req) {
          EXPECT_EQ(tile.begin_split, splits[r]);
        }
        EXPECT_EQ(begin, next_block[r]);
        EXPECT_LE(end, blocks);
        next_block[r] = end;
        ++splits[r];
      }
    }
    for (std::size_t r = 0; r < lens.size(); ++r) {
      EXPECT_EQ(next_block[r], std::max(lens[r] - 1, 0) / 64 + 1);
      EXPECT_EQ(schedule.num_splits[r + 1] - schedule.num_splits[r], splits[r]);
    }
  }
}

TEST(MlaSchedule, refuses_no_parts) {
  EXPECT_THROW(static_cast<void>(mla_schedule(Lens{1}, 0)), InternalError);
}

}  // namespace
}  // namespace attnbench
