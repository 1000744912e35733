// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/mla/plan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "backends/common/tiles/tiles.h"
#include "backends/common/visibility.h"
#include "lib/base/narrow.h"
#include "lib/batch/graph_padding.h"
#include "lib/fixture/fixture.h"
#include "lib/layout/lay_out.h"
#include "lib/scenario/testing/small_cases.h"

namespace attnbench::mla {
namespace {

constexpr int kMultiprocessors = 132;

Case decode(int requests, std::int64_t kv_len, int heads = 128) {
  Case c = small_mla();
  c.layer.heads_q = heads;
  c.requests.assign(static_cast<std::size_t>(requests), Request{});
  for (Request& request : c.requests) request.kv_len = kv_len;
  return c;
}

constexpr TileKind kTiles[] = {TileKind::kFew, TileKind::kMany, TileKind::kFewFp8,
                               TileKind::kWarpgroups};

WorkPlan plan(const Case& c, TileKind tile = TileKind::kWarpgroups) {
  return plan_work(lay_out(c).batch, c.layer, tile, kMultiprocessors);
}

/// The plan's tiles before any was split.
std::vector<Item> tiles(const Case& c, TileKind tile) {
  const BatchLayout layout = lay_out(c);
  const int lanes = lanes_of(layout.batch, c.layer);
  const std::int64_t rows = rows_of(tile) * (tile == TileKind::kWarpgroups ? lanes : 1);
  return tiles::tiles_of(layout.batch, c.layer, rows);
}

std::vector<std::int64_t> keys_of_parts(const WorkPlan& plan) {
  std::vector<std::int64_t> keys;
  for (std::size_t part = 0; part + 1 < plan.part_begin.size(); ++part) {
    keys.push_back(0);
    for (auto i = plan.part_begin[part]; i < plan.part_begin[part + 1]; ++i) {
      const Item& item = plan.items[static_cast<std::size_t>(i)];
      keys.back() += item.key_end - item.key_begin;
    }
  }
  return keys;
}

TEST(MlaPlan, covers_every_key_of_every_tile_once_and_knows_where_pieces_wait) {
  std::vector<Case> cases = {decode(64, 4096), decode(1, 100000), decode(37, 5000, 64),
                             decode(200, 77),  decode(3, 1),      decode(100, 3000)};
  cases.push_back(decode(30, 900, 16));
  cases.back().mode = ForwardMode::kExtend;
  for (std::size_t r = 0; r < 30; ++r) {
    cases.back().requests[r].q_len = 1 + static_cast<std::int64_t>(7 * r % 50);
    cases.back().requests[r].kv_len += static_cast<std::int64_t>(300 * r);
  }
  std::vector<std::pair<TileKind, Case>> plans;
  for (const Case& c : cases) {
    for (const TileKind tile : kTiles) plans.emplace_back(tile, c);
  }
  for (const auto& [which, c] : plans) {
    const WorkPlan made = plan(c, which);
    const std::vector<Item> all = tiles(c, which);
    if (has_parts(which)) {
      ASSERT_EQ(made.part_begin.back(), static_cast<std::int32_t>(made.items.size()));
      EXPECT_EQ(made.part_begin.size(),
                static_cast<std::size_t>(kMultiprocessors / made.lanes) + 1);
      EXPECT_TRUE(std::is_sorted(made.part_begin.begin(), made.part_begin.end()));
    } else {
      EXPECT_THAT(made.part_begin, testing::ElementsAre(0));
    }
    using Tile = std::pair<int, int>;  // request, first row
    std::map<Tile, std::map<int, const Item*>> pieces;
    for (const Item& item : made.items) {
      const Tile name{item.request, item.row_begin};
      EXPECT_TRUE(pieces[name].emplace(item.key_begin, &item).second);
    }
    EXPECT_EQ(pieces.size(), all.size());
    std::map<Tile, const Item*> merges;
    for (const Item& merge : made.merges) merges[{merge.request, merge.row_begin}] = &merge;
    std::vector<int> waiting(static_cast<std::size_t>(made.partials));
    for (const Item& tile : all) {
      const Tile name{tile.request, tile.row_begin};
      int end = tile.key_begin, index = 0;
      for (const auto& [begin, piece] : pieces[name]) {
        EXPECT_EQ(begin, end);
        end = piece->key_end;
        EXPECT_EQ(piece->rows, tile.rows);
        const int splits = static_cast<int>(pieces[name].size());
        if (splits == 1) {
          EXPECT_EQ(piece->splits, 1);
          EXPECT_FALSE(merges.count(name));
          continue;
        }
        EXPECT_EQ(piece->splits, has_parts(which) ? splits : 0);
        EXPECT_LE(piece->rows, made.partial_rows);
        ASSERT_TRUE(merges.count(name));
        EXPECT_EQ(merges[name]->splits, splits);
        EXPECT_EQ(merges[name]->rows, tile.rows);
        EXPECT_EQ(piece->partial, merges[name]->first_partial + index++);
        ++waiting[static_cast<std::size_t>(piece->partial)];
      }
      EXPECT_EQ(end, tile.key_end);
    }
    EXPECT_THAT(waiting, testing::Each(1));
  }
}

TEST(MlaPlan, shares_keys_between_two_blocks_where_most_tiles_have_128_rows) {
  EXPECT_EQ(plan(decode(8, 1000, 128)).lanes, 2);
  EXPECT_EQ(plan(decode(8, 1000, 64)).lanes, 1);
  EXPECT_EQ(plan(decode(8, 1000, 65)).lanes, 2);
  EXPECT_EQ(plan(decode(8, 1000, 192)).lanes, 1);
}

TEST(MlaPlan, leaves_tiles_whole_where_they_fill_the_gpu) {
  EXPECT_TRUE(plan(decode(64, 4096)).merges.empty());
  EXPECT_TRUE(plan(decode(128, 4096, 64)).merges.empty());
}

TEST(MlaPlan, splits_so_that_parts_have_about_the_same_to_do) {
  for (const Case& c : {decode(1, 100000), decode(16, 4096), decode(100, 3000)}) {
    const WorkPlan made = plan(c);
    EXPECT_FALSE(made.merges.empty());
    const std::vector<std::int64_t> keys = keys_of_parts(made);
    const std::int64_t most = *std::max_element(keys.begin(), keys.end());
    const std::int64_t all = std::accumulate(keys.begin(), keys.end(), std::int64_t{0});
    EXPECT_LE(most * (kMultiprocessors / made.lanes), all * 5 / 4);
  }
}

TEST(MlaPlan, gives_every_part_a_start_even_if_there_is_little_to_do) {
  const WorkPlan made = plan(decode(1, 5));
  EXPECT_EQ(made.items.size(), 1u);
  EXPECT_EQ(made.part_begin.size(), static_cast<std::size_t>(kMultiprocessors / 2) + 1);
}

TEST(MlaPlan, keeps_no_more_rows_of_pieces_than_there_are) {
  EXPECT_EQ(plan(decode(1, 32768, 16)).partial_rows, 16);
  EXPECT_EQ(plan(decode(1, 32768, 65)).partial_rows, 65);
  EXPECT_EQ(plan(decode(1, 32768, 200)).partial_rows, 128);
  EXPECT_EQ(plan(decode(64, 4096)).partial_rows, 0);
}

TEST(MlaPlan, of_any_uniform_batch_fits_the_room_of_its_size) {
  std::mt19937 random(5);
  const auto upto = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  for (const TileKind tile : kTiles) {
    Room fullest;  // in percent
    for (int i = 0; i < 120; ++i) {
      const std::int64_t requests = i == 0 ? 176 : 1 + upto(i % 3 == 0 ? 150 : 5);
      Case c = decode(narrow_i32(requests), 1, 8 << upto(4));
      const std::int64_t longest = upto(2) == 0 ? 600 : 20000;
      for (Request& request : c.requests) request.kv_len += upto(longest);
      if (i == 0) c = decode(narrow_i32(requests), 6000, 8);  // all of them in two pieces
      const WorkPlan made = plan(c, tile);
      const Room need = made.room();
      const Room room = room_for(tile, requests, c.layer.heads_q, 26000, kMultiprocessors);
      EXPECT_EQ(tile == TileKind::kWarpgroups ? lanes_of(c.layer.heads_q) : 1, made.lanes);
      EXPECT_EQ(need.parts, room.parts);
      EXPECT_LE(need.items, room.items);
      EXPECT_LE(need.merges, room.merges);
      EXPECT_LE(need.partials, room.partials);
      EXPECT_LE(need.partial_rows, room.partial_rows);
      fullest = most_of(fullest, {100 * need.items / room.items, 0, 100 * need.merges / room.merges,
                                  100 * need.partials / room.partials,
                                  100 * need.partial_rows / room.partial_rows});
    }
    // And the room is not much larger than needed.
    EXPECT_GE(fullest.items, has_parts(tile) ? 99 : 80);
    EXPECT_EQ(fullest.merges, 100);
    EXPECT_GE(fullest.partials, 90);
    EXPECT_EQ(fullest.partial_rows, 100);
  }
}

TEST(MlaPlan, has_no_room_for_merges_where_no_tile_can_be_split) {
  const auto room = [](std::int64_t requests, std::int64_t keys) {
    return room_for(TileKind::kWarpgroups, requests, 16, keys, kMultiprocessors);
  };
  for (const auto& [requests, keys] : {std::pair<int, int>{1, 1},
                                       {1, 128},
                                       {300, 128},
                                       {1, 256},
                                       {kMultiprocessors, 256},
                                       {kMultiprocessors, 129}}) {
    EXPECT_EQ(room(requests, keys).merges, 0) << requests << " of " << keys;
    EXPECT_EQ(room(requests, keys).partials, 0);
    const WorkPlan made = plan(decode(requests, keys, 16));
    EXPECT_TRUE(made.merges.empty());
    EXPECT_LE(std::ssize(made.items), room(requests, keys).items);
  }
  EXPECT_GT(room(1, 257).merges, 0);
  EXPECT_GT(room(kMultiprocessors + 1, 256).merges, 0);
}

TEST(MlaPlan, knows_how_many_keys_a_tile_can_have) {
  AttentionLayer layer = small_mla().layer;
  const StepLimits limits{.q_len = 3, .kv_len = 5000};
  EXPECT_EQ(most_keys(layer, limits), 5000);
  layer.sliding_window_size = 127;
  EXPECT_EQ(most_keys(layer, limits), 130);
  EXPECT_EQ(most_keys(layer, {.q_len = 3, .kv_len = 100}), 100);
  layer.compress_ratio = 128;
  EXPECT_EQ(most_keys(layer, limits), 128 + 39);
  layer.selection = {.topk = 9, .unit = 128, .compressed = true};
  EXPECT_EQ(most_keys(layer, limits), 128 + 9);
  layer = small_mla().layer;
  layer.sliding_window_size = 127;
  layer.causal = false;
  EXPECT_EQ(most_keys(layer, limits), 5000);
}

TEST(MlaPlan, has_tiles_of_all_keys_that_some_of_their_tokens_see) {
  Case trees = small_tree_verify();
  trees.layer = small_mla().layer;
  trees.layer.heads_q = 2;
  trees.kv_cache = small_mla().kv_cache;
  Case trees_in_window = trees;
  trees_in_window.layer.sliding_window_size = 2;
  Case trees_in_deep_window = trees_in_window;
  trees_in_deep_window.layer.window_in_trees = WindowInTrees::kDepth;
  for (Case* c : {&trees_in_window, &trees_in_deep_window}) {
    for (Request& request : c->requests) {
      request.tree_parents = {-1, 0, 1, 0, 3, 1};  // not in the order of depth
    }
  }
  Case extend = small_mla();
  extend.mode = ForwardMode::kExtend;
  extend.layer.heads_q = 16;
  for (Request& request : extend.requests) {
    request.kv_len += 300;
    request.q_len = 50;
  }
  Case extend_in_window = extend;
  extend_in_window.layer.sliding_window_size = 40;
  Case encoder_in_window = extend_in_window;
  encoder_in_window.layer.causal = false;
  Case blocks = extend, extend_in_chunks = extend, trees_in_chunks = trees;
  blocks.mode = ForwardMode::kDllmExtend;
  blocks.layer.causal_block = 16;
  extend_in_chunks.layer.attention_chunk = 64;
  trees_in_chunks.layer.attention_chunk = 3;
  for (const Case& c : {trees, trees_in_window, trees_in_deep_window, extend, extend_in_window,
                        encoder_in_window, blocks, extend_in_chunks, trees_in_chunks}) {
    const BatchLayout layout = lay_out(c);
    const std::int64_t group = c.layer.group_size();
    for (const std::int64_t rows : {2, 4, 6, 16, 64, 128}) {
      for (const Item& tile : tiles::tiles_of(layout.batch, c.layer, rows)) {
        std::int64_t begin = tile.kv_len, end = 0;
        for (std::int64_t row = tile.row_begin; row < tile.row_begin + tile.rows; ++row) {
          const Visibility seen = visibility_of(layout.batch, c.layer, tile.request, row / group);
          begin = std::min(begin, seen.begin);
          end = std::max(end, seen.end);
        }
        EXPECT_EQ(tile.key_begin, std::min(begin, end));
        EXPECT_EQ(tile.key_end, end);
      }
    }
  }
}

TEST(MlaPlan, of_lists_counts_a_token_as_a_request) {
  for (const TileKind tile : kTiles) {
    Case tokens = decode(5, 4000, 16), requests = decode(20, 4000, 16);
    tokens.mode = ForwardMode::kExtend;
    for (Request& request : tokens.requests) request.q_len = 4;
    for (Case* c : {&tokens, &requests}) c->layer.selection = {.topk = 1000};
    const WorkPlan made = plan(tokens, tile), like = plan(requests, tile);
    EXPECT_EQ(made.part_begin, like.part_begin);
    ASSERT_EQ(made.items.size(), like.items.size());
    for (std::size_t i = 0; i < made.items.size(); ++i) {
      EXPECT_EQ(made.items[i].list, like.items[i].list);
      EXPECT_EQ(made.items[i].rows, 16);
      EXPECT_EQ(made.items[i].key_begin, like.items[i].key_begin);
      EXPECT_EQ(made.items[i].key_end, like.items[i].key_end);
      EXPECT_LE(made.items[i].key_end, 1000);
    }
  }
}

TEST(MlaPlan, gives_padding_no_work_and_leaves_the_others_theirs) {
  const Case c = decode(5, 4000);
  const BatchLayout layout = lay_out(c);
  const auto work_of = [&](const ForwardBatch& batch) {
    return plan_work(batch, c.layer, TileKind::kWarpgroups, kMultiprocessors);
  };
  const WorkPlan alone = work_of(layout.batch);
  const WorkPlan padded = work_of(pad_for_cuda_graph(layout.batch, 8, 1));
  EXPECT_EQ(alone.part_begin, padded.part_begin);
  ASSERT_EQ(alone.items.size(), padded.items.size());
  for (std::size_t i = 0; i < alone.items.size(); ++i) {
    EXPECT_EQ(std::memcmp(&alone.items[i], &padded.items[i], sizeof(Item)), 0);
  }
}

}  // namespace
}  // namespace attnbench::mla
