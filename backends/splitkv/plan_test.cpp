// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/splitkv/plan.h"

#include <gmock/gmock.h>

#include <cstring>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "backends/common/tiles/items.h"
#include "lib/batch/graph_padding.h"
#include "lib/fixture/fixture.h"
#include "lib/layout/lay_out.h"
#include "lib/scenario/testing/small_cases.h"

namespace attnbench::splitkv {
namespace {

constexpr int kMultiprocessors = 132;
constexpr SplitRule kRules[] = {SplitRule::kFill,
                                SplitRule::kDynamic,
                                SplitRule::kFixedTile,
                                {SplitRule::kFixedTile, 128},
                                {SplitRule::kPieces, 16}};

Case decode(std::initializer_list<std::int64_t> lengths, int heads_q = 32, int heads_kv = 8) {
  Case c = small_fp8();
  c.layer.heads_q = heads_q;
  c.layer.heads_kv = heads_kv;
  c.prefixes.clear();
  c.requests.clear();
  for (const std::int64_t length : lengths) {
    Request request;
    request.kv_len = length;
    c.requests.push_back(request);
  }
  return c;
}

WorkPlan plan(const Case& c, SplitRule rule) {
  const BatchLayout layout = lay_out(c);
  return plan_work(layout.batch, c.layer, rule, kMultiprocessors);
}

/// Splits of each request.
std::vector<int> splits(const Case& c, SplitRule rule) {
  std::vector<int> all(c.requests.size());
  for (const Item& item : plan(c, rule).items) {
    all[static_cast<std::size_t>(item.request)] = item.splits;
  }
  return all;
}

TEST(SplitKvPlan, covers_every_key_of_every_row_once) {
  std::vector<Case> smalls = all_small_cases();
  std::ranges::copy(small_dual_chunks(), std::back_inserter(smalls));
  for (const Case& small : smalls) {
    for (const SplitRule rule : kRules) {
      Case c = small;
      for (Request& request : c.requests) request.kv_len += 3000;
      SCOPED_TRACE(c.id);
      const WorkPlan made = plan(c, rule);
      using Tile = std::pair<int, int>;
      std::map<Tile, std::map<int, int>> pieces;  // begin -> end of the keys
      std::map<Tile, int> rows;
      std::vector<int> partial_uses(static_cast<std::size_t>(made.partials));
      for (const Item& item : made.items) {
        const Tile tile{item.request, item.row_begin};
        EXPECT_EQ(item.kv_head, 0);
        EXPECT_TRUE(pieces[tile].emplace(item.key_begin, item.key_end).second);
        rows[tile] = item.rows;
        if (item.splits > 1) {
          EXPECT_LE(item.rows, made.partial_rows);
          EXPECT_LT(item.tile, made.tiles);
          EXPECT_LT(item.partial - item.first_partial, item.splits);
          ++partial_uses[static_cast<std::size_t>(item.partial)];
        }
      }
      EXPECT_THAT(partial_uses, testing::Each(1));
      for (const auto& [tile, parts] : pieces) {
        int end = parts.begin()->first;
        for (const auto& [begin, piece_end] : parts) {
          EXPECT_EQ(begin, end);
          EXPECT_GT(piece_end, begin);
          end = piece_end;
        }
      }
      std::int64_t total = 0;
      for (const auto& [tile, count] : rows) total += count;
      EXPECT_EQ(total, c.q_tokens() * c.layer.group_size());
    }
  }
}

TEST(SplitKvPlan, cuts_by_the_engines_rules) {
  EXPECT_THAT(splits(decode({1000, 4000}), SplitRule::kDynamic), testing::ElementsAre(2, 8));
  EXPECT_THAT(splits(decode({100, 100, 8192}, 32, 32), SplitRule::kDynamic),
              testing::ElementsAre(1, 1, 8));
  EXPECT_THAT(splits(decode({256, 257, 1000, 8192}), SplitRule::kFixedTile),
              testing::ElementsAre(1, 2, 4, 32));
  EXPECT_THAT(splits(decode({256, 257, 1000, 8192}), {SplitRule::kFixedTile, 512}),
              testing::ElementsAre(1, 1, 2, 16));
}

TEST(SplitKvPlan, cuts_decodes_into_so_many_pieces_as_it_is_told) {
  const SplitRule four{SplitRule::kPieces, 4};
  EXPECT_THAT(splits(decode({100, 1000, 60000}), four), testing::ElementsAre(4, 4, 4));
  EXPECT_THAT(splits(decode({20, 33}), four), testing::ElementsAre(1, 2)) << "of 32 keys at least";
  EXPECT_THAT(splits(decode({60000}), {SplitRule::kPieces, 1}), testing::ElementsAre(1));
  EXPECT_EQ(plan(small_prefix_hits(), four).partials, 0) << "prompts are not cut";
}

TEST(SplitKvPlan, fills_the_gpu_with_pieces_of_like_size) {
  const WorkPlan ragged = plan(decode({100, 1000, 60000}), SplitRule::kFill);
  const auto keys = [](const Item& item) { return item.key_end - item.key_begin; };
  EXPECT_GE(8 * ragged.items.size(), 2 * kMultiprocessors);
  EXPECT_LE(keys(ragged.items.front()), 60000 / 16);
  for (std::size_t i = 1; i < ragged.items.size(); ++i) {
    EXPECT_LE(keys(ragged.items[i]), keys(ragged.items[i - 1]));
  }
}

TEST(SplitKvPlan, fills_a_last_round_of_blocks_that_would_be_mostly_empty) {
  // 33 blocks for each of 8 KV heads. What they read, and for how long if each takes the longest
  // piece that is left:
  const auto keys_in_turn = [](std::size_t requests, std::int64_t kv_len) {
    Case c = decode({});
    c.requests.resize(requests);
    for (Request& request : c.requests) request.kv_len = kv_len;
    std::vector<std::int64_t> blocks(33);
    for (const Item& item : plan(c, SplitRule::kFill).items) {
      *std::ranges::min_element(blocks) += keys_of(item);
    }
    const double ideal = static_cast<double>(requests) * static_cast<double>(kv_len) / 33;
    return static_cast<double>(std::ranges::max(blocks)) / ideal;
  };
  EXPECT_LT(keys_in_turn(34, 8192), 1.05);  // 1.94 if all were whole
  EXPECT_LT(keys_in_turn(48, 8192), 1.15);
  EXPECT_LT(keys_in_turn(20, 8192), 1.3);  // 1.65 in two pieces each
  EXPECT_LT(keys_in_turn(70, 8192), 1.1);
  // As before where rounds are full enough, or short.
  EXPECT_EQ(splits(decode({8192, 8192, 8192, 8192}), SplitRule::kFill), std::vector<int>(4, 8));
  Case full = decode({});
  full.requests.resize(64);
  for (Request& request : full.requests) request.kv_len = 8192;
  EXPECT_EQ(plan(full, SplitRule::kFill).partials, 0);
  full.requests.resize(34);
  for (Request& request : full.requests) request.kv_len = 800;
  EXPECT_EQ(plan(full, SplitRule::kFill).partials, 0);
}

TEST(SplitKvPlan, packs_a_group_into_the_small_tile_where_it_fits) {
  EXPECT_FALSE(plan(decode({100}, 16, 1), SplitRule::kFill).many_rows);
  EXPECT_TRUE(plan(decode({100}, 17, 1), SplitRule::kFill).many_rows);
  EXPECT_TRUE(plan(small_prefix_hits(), SplitRule::kFill).many_rows);
}

/// Extends of `q_len` tokens, 64 rows per 16.
Case extend(std::int64_t requests, std::int64_t q_len, std::int64_t kv_len) {
  Case c = decode({});
  c.mode = ForwardMode::kExtend;
  c.requests.resize(static_cast<std::size_t>(requests));
  for (Request& request : c.requests) request.q_len = q_len, request.kv_len = kv_len;
  return c;
}

int most_rows(const WorkPlan& made) {
  int rows = 0;
  for (const Item& item : made.items) rows = std::max(rows, item.rows);
  return rows;
}

TEST(SplitKvPlan, prefers_small_tiles_while_there_is_little_to_read) {
  // 8 KV heads and 264 blocks: 33 for each head.
  EXPECT_EQ(most_rows(plan(extend(1, 32, 1000), SplitRule::kFill)), 16);
  EXPECT_EQ(most_rows(plan(extend(8, 16, 700), SplitRule::kFill)), 16);
  EXPECT_EQ(most_rows(plan(extend(8, 16, 900), SplitRule::kFill)), 64);  // 4 x 8 x 900 keys
  EXPECT_EQ(most_rows(plan(extend(9, 16, 100), SplitRule::kFill)), 64);  // 36 tiles of 16
  EXPECT_EQ(most_rows(plan(extend(1, 32, 1000), SplitRule::kDynamic)), 64);
  // The kernel is the same, so that a CUDA graph can repeat either.
  EXPECT_TRUE(plan(extend(1, 32, 1000), SplitRule::kFill).many_rows);
}

TEST(SplitKvPlan, leaves_out_tiles_of_keys_outside_the_window) {
  Case c = decode({5000});
  c.layer.sliding_window_size = 127;
  for (const Item& item : plan(c, SplitRule::kFill).items) {
    EXPECT_EQ(item.key_begin, 5000 - 128);
    EXPECT_EQ(item.key_end, 5000);
  }
}

TEST(SplitKvPlan, of_a_chunked_layer_reads_the_own_chunk_alone) {
  Case c = decode({8192, 8193, 100'000});
  c.layer.attention_chunk = 8192;
  std::map<int, std::int64_t> first, keys;
  for (const Item& item : plan(c, SplitRule::kFill).items) {
    keys[item.request] += item.key_end - item.key_begin;
    const auto [at, is_new] = first.try_emplace(item.request, item.key_begin);
    if (!is_new) at->second = std::min<std::int64_t>(at->second, item.key_begin);
  }
  EXPECT_THAT(keys, testing::ElementsAre(testing::Pair(0, 8192), testing::Pair(1, 1),
                                         testing::Pair(2, 100'000 - 98'304)));
  EXPECT_THAT(first, testing::ElementsAre(testing::Pair(0, 0), testing::Pair(1, 8192),
                                          testing::Pair(2, 98'304)));
}

TEST(SplitKvPlan, of_dual_chunks_gives_an_item_keys_of_one_form_of_its_queries) {
  for (const SplitRule rule : kRules) {
    for (Case c : {decode({6, 7, 13, 20, 5000}), extend(2, 700, 5000), small_prefix_hits()}) {
      c.layer.dual_chunk = c.requests.size() == 2 ? DualChunk{1100, 100} : DualChunk{8, 2};
      const std::int64_t step = c.layer.dual_chunk.step(), group = c.layer.group_size();
      std::map<int, std::int64_t> keys[3];  // of the last token of each request
      for (const Item& item : plan(c, rule).items) {
        const std::int64_t prefix = item.kv_len - item.q_len;
        const std::int64_t first = (prefix + item.row_begin / group) / step;
        const std::int64_t last = (prefix + (item.row_begin + item.rows - 1) / group) / step;
        EXPECT_EQ(first, last) << "a tile of queries of two chunks";
        if (item.key_begin == item.key_end) continue;
        const std::int64_t nearest = first - (item.key_end - 1) / step;
        const std::int64_t farthest = first - item.key_begin / step;
        EXPECT_EQ(std::min<std::int64_t>(nearest, 2), item.variant);
        EXPECT_EQ(std::min<std::int64_t>(farthest, 2), item.variant);
        if (item.q_len == 1) keys[item.variant][item.request] += keys_of(item);
      }
      if (c.requests.size() != 5) continue;
      // SGLang's lengths of a decode's three parts.
      using testing::Pair;
      EXPECT_THAT(keys[0],
                  testing::ElementsAre(Pair(0, 6), Pair(1, 1), Pair(2, 1), Pair(3, 2), Pair(4, 2)));
      EXPECT_THAT(keys[1], testing::ElementsAre(Pair(1, 6), Pair(2, 6), Pair(3, 6), Pair(4, 6)));
      EXPECT_THAT(keys[2], testing::ElementsAre(Pair(2, 6), Pair(3, 12), Pair(4, 4992)));
    }
  }
}

TEST(SplitKvPlan, of_lists_gives_a_token_as_many_keys_as_its_list_can_have) {
  Case c = extend(1, 3, 101);
  c.layer.selection = {.topk = 10, .unit = 10, .groups = SelectionGroups::kKvHeads};
  c.requests.push_back(c.requests.front());
  c.requests.back().kv_len = 2;  // a query without a place among the keys, and two of 1 and 2
  using testing::ElementsAre;
  std::vector<std::vector<int>> tiles;
  for (const Item& item : plan(c, SplitRule::kFill).items) {
    EXPECT_EQ(item.q_len, 1);
    EXPECT_EQ(item.rows, c.layer.group_size());
    EXPECT_EQ(item.row_begin, 0);
    EXPECT_EQ(item.key_begin, 0);
    tiles.push_back({item.request, item.q_begin, item.list, item.kv_len, item.key_end});
  }
  std::ranges::sort(tiles);
  EXPECT_THAT(tiles, ElementsAre(ElementsAre(0, 0, 0, 99, 99), ElementsAre(0, 1, 8, 100, 100),
                                 ElementsAre(0, 2, 16, 101, 100), ElementsAre(1, 3, 24, 0, 0),
                                 ElementsAre(1, 4, 32, 1, 1), ElementsAre(1, 5, 40, 2, 2)));
}

TEST(SplitKvPlan, of_lists_that_repeat_units_lets_a_kernel_see_more_keys_than_the_query_does) {
  Case c = extend(1, 3, 101);
  c.layer.selection = {.topk = 10, .unit = 10, .pattern = SelectionPattern::kDuplicates};
  c.requests.push_back(c.requests.front());
  c.requests.back().kv_len = 2;
  std::vector<std::vector<int>> lengths;
  for (const Item& item : plan(c, SplitRule::kFill).items) {
    lengths.push_back({item.key_end, item.kv_len});  // kernels hide keys behind kv_len
  }
  std::ranges::sort(lengths);
  using testing::ElementsAre;
  EXPECT_THAT(lengths,
              ElementsAre(ElementsAre(0, 0), ElementsAre(10, 10), ElementsAre(20, 20),
                          ElementsAre(100, 100), ElementsAre(100, 100), ElementsAre(100, 101)));
}

TEST(SplitKvPlan, of_lists_never_puts_two_tokens_into_a_tile_and_fills_the_gpu) {
  Case c = extend(1, 8, 5000);
  c.layer.selection = {.topk = 2048};
  EXPECT_FALSE(plan(c, SplitRule::kFill).many_rows);
  c = decode({100'000});
  c.layer.selection = {.topk = 2048};
  const WorkPlan made = plan(c, SplitRule::kFill);
  EXPECT_EQ(made.items.size(), 8u);  // for each of 8 KV heads: pieces of 256 keys, the least
  std::int64_t keys = 0;
  for (const Item& item : made.items) keys += keys_of(item);
  EXPECT_EQ(keys, 2048);
}

TEST(SplitKvPlan, of_any_uniform_batch_fits_the_room_of_its_size) {
  std::mt19937 random(5);
  const auto upto = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  constexpr std::int64_t kMaxKvLen = 20000;
  tiles::Room fullest;  // in percent
  for (int i = 0; i < 80; ++i) {
    const SplitRule rule = kRules[static_cast<std::size_t>(i / 2) % std::size(kRules)];
    const auto requests = static_cast<std::size_t>(1 + upto(i % 3 == 0 ? 40 : 5));
    const int group = 1 << upto(5);
    Case c = decode({}, 8 * group);
    c.requests.resize(requests);
    const std::int64_t q_len = upto(1) == 0 ? 1 : 1 + upto(9);
    c.mode = q_len == 1 ? ForwardMode::kDecode : ForwardMode::kTargetVerify;
    const std::int64_t longest = upto(2) == 0 ? 600 : kMaxKvLen;
    for (Request& request : c.requests) {
      request.q_len = q_len;
      request.kv_len = std::min(kMaxKvLen, q_len + upto(longest));
      if (q_len == 1) continue;
      request.tree_parents.resize(static_cast<std::size_t>(q_len));
      std::iota(request.tree_parents.begin(), request.tree_parents.end(), -1);
    }
    if (i % 4 == 1) c.layer.dual_chunk = {1 + upto(i % 8 == 1 ? 3000 : 4), 0};
    if (i % 8 == 3) c.layer.selection = {.topk = 1 + upto(3000), .unit = 1 + upto(7)};
    const tiles::Room made = plan(c, rule).room();
    Problem problem;
    problem.layer = c.layer;
    problem.mode = c.mode;
    problem.limits = {static_cast<std::int64_t>(requests), q_len,
                      static_cast<std::int64_t>(requests) * q_len, kMaxKvLen};
    const tiles::Room room = room_for(uniform_batches(problem), c.layer, rule, kMultiprocessors);
    EXPECT_LE(made.items, room.items);
    EXPECT_LE(made.tiles, room.tiles);
    EXPECT_LE(made.partials, room.partials);
    EXPECT_LE(made.partial_rows, room.partial_rows);
    if (rule != SplitRule::kFill || c.layer.dual_chunk.exists()) continue;
    fullest = most_of(fullest, {100 * made.items / room.items, 100 * made.tiles / room.tiles,
                                100 * made.partials / room.partials, 0});
  }
  EXPECT_GE(fullest.items, 90);  // and the room is no larger than needed
  EXPECT_EQ(fullest.tiles, 100);
  EXPECT_GE(fullest.partials, 75);
}

TEST(SplitKvPlan, gives_padding_no_work_and_leaves_the_others_theirs) {
  const Case c = decode({100, 1000, 60000});
  const BatchLayout layout = lay_out(c);
  ForwardBatch batch = layout.batch;
  batch.req_to_token_pool = &layout.req_to_token_pool;
  for (const SplitRule rule : kRules) {
    const WorkPlan alone = plan_work(batch, c.layer, rule, kMultiprocessors);
    const WorkPlan padded =
        plan_work(pad_for_cuda_graph(batch, 8, 1), c.layer, rule, kMultiprocessors);
    ASSERT_EQ(alone.items.size(), padded.items.size());
    for (std::size_t i = 0; i < alone.items.size(); ++i) {
      EXPECT_EQ(std::memcmp(&alone.items[i], &padded.items[i], sizeof(Item)), 0);
    }
  }
}

TEST(SplitKvPlan, of_an_idle_batch_is_empty) {
  EXPECT_TRUE(plan(small_idle(), SplitRule::kFill).items.empty());
}

}  // namespace
}  // namespace attnbench::splitkv
