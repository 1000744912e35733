// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/tiles/items.h"

#include <gmock/gmock.h>

#include <utility>

namespace attnbench::tiles {
namespace {

struct Range {
  std::int32_t key_begin = 0, key_end = 0, partial = -1;
};

std::vector<std::pair<int, int>> keys(const std::vector<Range>& items) {
  std::vector<std::pair<int, int>> all;
  for (const Range& item : items) all.emplace_back(item.key_begin, item.key_end);
  return all;
}

TEST(TilePieces, follow_each_other_to_the_last_key) {
  std::vector<Range> items;
  std::int32_t partials = 5;
  append_pieces(items, Range{10, 200}, 64, partials);
  EXPECT_THAT(keys(items),
              testing::ElementsAre(std::pair(10, 74), std::pair(74, 138), std::pair(138, 200)));
  EXPECT_EQ(items[0].partial, 5);
  EXPECT_EQ(items[2].partial, 7);
  EXPECT_EQ(partials, 8);
}

TEST(TilePieces, of_a_tile_that_fits_are_the_tile) {
  EXPECT_EQ(pieces_of(64, 64), 1);
  EXPECT_EQ(pieces_of(65, 64), 2);
  EXPECT_EQ(pieces_of(0, 64), 1);
  std::vector<Range> items;
  std::int32_t partials = 0;
  append_pieces(items, Range{7, 7}, 64, partials);
  EXPECT_THAT(keys(items), testing::ElementsAre(std::pair(7, 7)));
}

TEST(TilePieces, are_sorted_by_keys_and_otherwise_keep_their_order) {
  const std::vector<Range> items = {{0, 5, 0}, {3, 12, 1}, {4, 9, 2}, {0, 0, 3}, {1, 10, 4}};
  EXPECT_EQ(keys_of(items), 5 + 9 + 5 + 0 + 9);
  EXPECT_THAT(longest_first(items), testing::ElementsAre(1, 4, 0, 2, 3));
  std::vector<int> places;
  for (const Range& item : sorted_longest_first(items)) places.push_back(item.partial);
  EXPECT_THAT(places, testing::ElementsAre(1, 4, 0, 2, 3));
}

TEST(TileRoom, fits_what_is_no_larger_in_any_way) {
  const Room room{4, 3, 2, 16};
  EXPECT_TRUE(fits(room, room));
  EXPECT_FALSE(fits({5, 3, 2, 16}, room));
  EXPECT_FALSE(fits({4, 4, 2, 16}, room));
  EXPECT_FALSE(fits({4, 3, 3, 16}, room));
  EXPECT_FALSE(fits({4, 3, 2, 17}, room));
  EXPECT_TRUE(fits(room, most_of(room, {9, 0, 9, 0})));
  EXPECT_TRUE(fits({9, 0, 9, 0}, most_of(room, {9, 0, 9, 0})));
}

}  // namespace
}  // namespace attnbench::tiles
