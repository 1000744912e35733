// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/tiles/key_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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

/// Of an H200, in pieces of paged_fa's decodes.
std::int64_t chunk_of_even(std::int64_t tiles, std::int64_t keys) {
  return EvenTiles(tiles, 264, {.least = 256, .step = 128}).chunk(keys);
}

// Requests times 8 KV heads; halves of 17 requests' keys would be 272 pieces.
TEST(EvenTiles, leave_no_round_of_blocks_nearly_empty) {
  EXPECT_EQ(chunk_of_even(17 * 8, 16384), 3328);
  EXPECT_EQ(chunk_of_even(12 * 8, 16384), 2048);
  EXPECT_EQ(chunk_of_even(20 * 8, 4096), 1408);
  EXPECT_EQ(chunk_of_even(40 * 8, 16384), 4096);
  EXPECT_EQ(chunk_of_even(17 * 8, 512), 512);  // one round of whole tiles
}

TEST(EvenTiles, are_equal_shares_where_rounds_are_full_or_little_is_to_be_saved) {
  for (const auto& [requests, keys, chunk] : {std::array{1, 8192, 256},
                                              {64, 1024, 1024},
                                              {64, 8192, 8192},
                                              {8, 8192, 2048},
                                              {1, 131072, 4096},
                                              {5, 4096, 640},
                                              {48, 1024, 1024},
                                              {100, 4096, 4096}}) {
    EXPECT_EQ(chunk_of_even(requests * 8, keys), chunk) << requests << " x " << keys;
  }
  EXPECT_EQ(chunk_of_even(8, 0), 128);
}

TEST(EvenTiles, never_make_more_pieces_than_there_is_room_for) {
  constexpr int kMultiprocessors = 132;
  std::int64_t most = 0;
  for (std::int64_t tiles = 1; tiles < 3000; ++tiles) {
    for (const std::int64_t keys : {1, 300, 4096, 100'000}) {
      const EvenTiles even(tiles, blocks_of(kMultiprocessors), {.least = 256, .step = 128});
      const std::int64_t pieces = pieces_of(keys, even.chunk(keys));
      if (pieces > 1) most = std::max(most, tiles * pieces);
    }
  }
  EXPECT_LE(most, EvenTiles::most_pieces(kMultiprocessors));
  EXPECT_GE(4 * most, 3 * EvenTiles::most_pieces(kMultiprocessors));
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
