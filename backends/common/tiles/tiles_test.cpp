// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/tiles/tiles.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "lib/layout/lay_out.h"
#include "lib/scenario/testing/small_cases.h"

namespace attnbench::tiles {
namespace {

/// DeepSeek-V4's: a window of 128 keys, and compressed rows of `ratio` tokens.
AttentionLayer compressed(std::int64_t ratio, std::int64_t topk) {
  AttentionLayer layer = small_mla().layer;
  layer.sliding_window_size = 127;
  layer.compress_ratio = ratio;
  layer.selection = {.topk = topk, .unit = ratio, .compressed = topk > 0};
  return layer;
}

TEST(Tiles, count_the_keys_of_a_list) {
  AttentionLayer layer = small_mla().layer;
  layer.selection = {.topk = 16, .unit = 8};
  EXPECT_EQ(most_gathered_keys(layer, 1000), 128);
  EXPECT_EQ(most_gathered_keys(layer, 100), 100);
  EXPECT_EQ(most_gathered_keys(layer, 5), 5);
  layer.selection.pattern = SelectionPattern::kDuplicates;
  EXPECT_EQ(most_gathered_keys(layer, 100), 128);
}

TEST(Tiles, count_compressed_rows_beside_the_window) {
  // DeepSeek-V4 at t = 4095: 128 + min(512, 1024) keys of CSA, 128 + 32 of HCA.
  EXPECT_EQ(most_gathered_keys(compressed(4, 512), 4096), 640);
  EXPECT_EQ(most_gathered_keys(compressed(128, 0), 4096), 160);
  EXPECT_EQ(most_gathered_keys(compressed(128, 0), 127), 127);
  EXPECT_EQ(most_gathered_keys(compressed(4, 512), 3), 3);
  EXPECT_EQ(most_gathered_keys(compressed(4, 512), 4), 5);
  AttentionLayer no_window = compressed(4, 0);
  no_window.sliding_window_size = -1;
  EXPECT_EQ(most_gathered_keys(no_window, 400), 500);
}

TEST(Tiles, stand_for_one_token_each_where_keys_are_gathered) {
  Case c = small_mla();
  c.mode = ForwardMode::kExtend;
  c.layer = compressed(4, 0);
  c.layer.heads_q = 16;
  c.requests.resize(1);
  c.requests[0].kv_len = 200;
  c.requests[0].q_len = 3;
  const BatchLayout layout = lay_out(c);
  const std::vector<Item> tiles = tiles_of(layout.batch, c.layer, 64);
  ASSERT_EQ(tiles.size(), 3u);
  for (std::int32_t t = 0; t < 3; ++t) {
    const Item& tile = tiles[static_cast<std::size_t>(t)];
    EXPECT_EQ(tile.q_begin, t);
    EXPECT_EQ(tile.rows, 16);
    EXPECT_EQ(tile.list, t);
    EXPECT_EQ(tile.key_end, 128 + (198 + t) / 4);
  }
}

}  // namespace
}  // namespace attnbench::tiles
