// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/indexer/block_shares.h"

#include <gtest/gtest.h>

#include <vector>

namespace attnbench::indexer {
namespace {

constexpr std::int64_t kSlots = 528;  // four blocks on each of 132 multiprocessors

std::int64_t of_equal(std::int64_t requests, std::int64_t groups, std::int64_t tiles) {
  const std::vector<RequestTiles> all(static_cast<std::size_t>(requests), {groups, tiles});
  return tiles_of_a_block(all, kSlots, 1);
}

TEST(BlockShares, spread_few_tiles_over_all_multiprocessors) {
  EXPECT_EQ(of_equal(1, 1, 64), 1);
  EXPECT_EQ(of_equal(1, 1, 512), 1);
  EXPECT_EQ(of_equal(16, 1, 64), 2);
}

// 64 requests of 131,072 keys: 249 tiles would be an equal share of 528 blocks, but then each
// request has nine blocks, and 48 of the 576 wait for a second round.
TEST(BlockShares, leave_slots_empty_rather_than_a_round_nearly_so) {
  EXPECT_EQ(of_equal(64, 1, 2048), 256);
  EXPECT_EQ(of_equal(64, 1, 512), 64);
}

TEST(BlockShares, take_several_rounds_where_one_leaves_most_slots_empty) {
  // One block for each of 300 requests leaves 228 slots empty for 1,000 tiles. Seven for each are
  // 2,100 blocks of 143 tiles, and four rounds have 2,112.
  EXPECT_EQ(of_equal(300, 1, 1000), 143);
}

TEST(BlockShares, count_the_groups_of_a_chunk) { EXPECT_EQ(of_equal(1, 128, 256), 64); }

// 16 requests of 16,388 keys, of which a block has 33 tiles: with 36, whole rounds of four, four of
// 132 multiprocessors and the end of each request's last block would wait for the others.
TEST(BlockShares, need_not_be_whole_rounds_of_the_tiles_that_a_block_takes_at_once) {
  const std::vector<RequestTiles> drafts(16, {1, 257});
  EXPECT_EQ(tiles_of_a_block(drafts, 132, 4), 33);
  const std::vector<RequestTiles> few(1, {1, 64});
  EXPECT_EQ(tiles_of_a_block(few, 132, 4), 4);
}

TEST(BlockShares, of_no_tiles_are_one) {
  EXPECT_EQ(tiles_of_a_block({}, kSlots, 1), 1);
  EXPECT_EQ(of_equal(3, 1, 0), 1);
}

TEST(BlockShares, of_uneven_requests_fill_one_round) {
  const std::vector<RequestTiles> uneven{{1, 2048}, {1, 1000}, {1, 10}, {1, 0}, {4, 300}};
  const std::int64_t tiles = tiles_of_a_block(uneven, kSlots, 1);
  std::int64_t blocks = 0;
  for (const RequestTiles& request : uneven) {
    blocks += request.groups * ((request.tiles + tiles - 1) / tiles);
  }
  EXPECT_LE(blocks, kSlots);
  EXPECT_GE(blocks, kSlots * 9 / 10);
}

}  // namespace
}  // namespace attnbench::indexer
