// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/tiles/key_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "backends/common/tiles/items.h"

namespace attnbench::tiles {
namespace {

TEST(EqualShares, give_a_tile_as_many_pieces_as_it_has_shares) {
  const EqualShares shares(64000, 64);  // of 1000 keys
  EXPECT_EQ(shares.chunk(4000), 1024);  // four rounds of 64 more than a quarter
  EXPECT_EQ(shares.chunk(1400), 1408);
  EXPECT_EQ(shares.chunk(1500), 768);
}

TEST(EqualShares, are_no_smaller_than_the_least_and_a_multiple_of_the_step) {
  EXPECT_EQ(EqualShares(1000, 64).chunk(1000), 256);
  EXPECT_EQ(EqualShares(1000, 64, {.least = 500, .step = 128}).chunk(1000), 512);
  EXPECT_EQ(EqualShares(1000, 64).chunk(0), 64);
}

TEST(EqualShares, never_make_more_pieces_than_there_is_room_for) {
  constexpr int kMultiprocessors = 11;
  const std::int64_t blocks = blocks_of(kMultiprocessors);
  std::mt19937 random(3);  // NOLINT(cert-msc51-cpp)
  std::int64_t most_partials = 0, most_further = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::int64_t> tiles(1 + random() % 40);
    std::int64_t all = 0;
    const std::uint32_t longest = i % 2 == 0 ? 3000 : 200000;
    for (std::int64_t& keys : tiles) all += keys = static_cast<std::int64_t>(random() % longest);
    const EqualShares shares(all, blocks);
    std::int64_t partials = 0, further = 0;
    for (const std::int64_t keys : tiles) {
      const std::int64_t pieces = pieces_of(keys, shares.chunk(keys));
      further += pieces - 1;
      if (pieces > 1) partials += pieces;
    }
    most_partials = std::max(most_partials, partials);
    most_further = std::max(most_further, further);
  }
  EXPECT_LE(most_partials, EqualShares::most_partials(kMultiprocessors));
  EXPECT_LE(most_further, EqualShares::most_further_pieces(kMultiprocessors));
  EXPECT_GE(4 * most_partials, 3 * EqualShares::most_partials(kMultiprocessors));
}

TEST(SmallTiles, are_better_while_there_are_blocks_for_all_and_little_to_read) {
  const auto better = [](std::int64_t rows, std::int64_t keys, int tiles, int heads_kv) {
    SmallTiles small(8);  // 16 blocks
    for (int i = 0; i < tiles; ++i) small.add(rows, keys);
    return small.are_better(heads_kv);
  };
  EXPECT_TRUE(better(64, 768, 4, 1));
  EXPECT_FALSE(better(64, 769, 4, 1));  // four tiles of 16 read these keys four times
  EXPECT_FALSE(better(64, 1, 5, 1));
  EXPECT_TRUE(better(64, 1, 1, 4));
  EXPECT_FALSE(better(65, 1, 1, 4));
  EXPECT_EQ(SmallTiles::most_tiles(4, 8), 4);
}

}  // namespace
}  // namespace attnbench::tiles
