// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/splitkv/plan.h"

#include <gmock/gmock.h>

#include <map>
#include <tuple>

#include "lib/fixture/fixture.h"
#include "lib/fixture/testing/small_cases.h"

namespace attnbench {
namespace {

constexpr int kMultiprocessors = 132;
constexpr SplitRule kRules[] = {SplitRule::kFill, SplitRule::kStepped, SplitRule::kDynamic,
                                SplitRule::kFixedTile};

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

SplitKvPlan plan(const Case& c, SplitRule rule) {
  const BatchLayout layout = lay_out(c);
  return plan_splitkv(layout.batch, c.layer, rule, kMultiprocessors);
}

/// Splits of each request's first KV head.
std::vector<int> splits(const Case& c, SplitRule rule) {
  std::vector<int> all(c.requests.size());
  for (const SplitKvItem& item : plan(c, rule).items) {
    all[static_cast<std::size_t>(item.request)] = item.splits;
  }
  return all;
}

TEST(SplitKvPlan, covers_every_key_of_every_row_once) {
  for (const Case& small : all_small_cases()) {
    for (const SplitRule rule : kRules) {
      Case c = small;
      for (Request& request : c.requests) request.kv_len += 3000;
      SCOPED_TRACE(c.id);
      const SplitKvPlan made = plan(c, rule);
      using Tile = std::tuple<int, int, int>;
      std::map<Tile, std::map<int, int>> pieces;  // begin -> end of the keys
      std::map<Tile, int> rows;
      std::vector<int> partial_uses(static_cast<std::size_t>(made.partials));
      for (const SplitKvItem& item : made.items) {
        const Tile tile{item.request, item.kv_head, item.row_begin};
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
      EXPECT_EQ(total, c.q_tokens() * c.layer.heads_q);
    }
  }
}

TEST(SplitKvPlan, cuts_by_the_engines_rules) {
  EXPECT_THAT(splits(decode({512, 513, 1024, 4096, 8192}), SplitRule::kStepped),
              testing::ElementsAre(1, 2, 2, 8, 8));
  EXPECT_THAT(splits(decode({1000, 4000}), SplitRule::kDynamic), testing::ElementsAre(2, 8));
  EXPECT_THAT(splits(decode({100, 100, 8192}, 32, 32), SplitRule::kDynamic),
              testing::ElementsAre(1, 1, 8));
  EXPECT_THAT(splits(decode({256, 257, 1000, 8192}), SplitRule::kFixedTile),
              testing::ElementsAre(1, 2, 4, 32));
}

TEST(SplitKvPlan, fills_the_gpu_with_pieces_of_like_size) {
  const SplitKvPlan ragged = plan(decode({100, 1000, 60000}), SplitRule::kFill);
  const auto keys = [](const SplitKvItem& item) { return item.key_end - item.key_begin; };
  EXPECT_GE(ragged.items.size(), 2 * kMultiprocessors);
  EXPECT_LE(keys(ragged.items.front()), 60000 / 16);
  for (std::size_t i = 1; i < ragged.items.size(); ++i) {
    EXPECT_LE(keys(ragged.items[i]), keys(ragged.items[i - 1]));
  }
}

TEST(SplitKvPlan, packs_a_group_into_the_small_tile_where_it_fits) {
  EXPECT_FALSE(plan(decode({100}, 16, 1), SplitRule::kFill).many_rows);
  EXPECT_TRUE(plan(decode({100}, 17, 1), SplitRule::kFill).many_rows);
  EXPECT_TRUE(plan(small_prefix_hits(), SplitRule::kFill).many_rows);
}

TEST(SplitKvPlan, leaves_out_tiles_of_keys_outside_the_window) {
  Case c = decode({5000});
  c.layer.sliding_window_size = 127;
  for (const SplitKvItem& item : plan(c, SplitRule::kFill).items) {
    EXPECT_EQ(item.key_begin, 5000 - 128);
    EXPECT_EQ(item.key_end, 5000);
  }
}

TEST(SplitKvPlan, of_an_idle_batch_is_empty) {
  EXPECT_TRUE(plan(small_idle(), SplitRule::kFill).items.empty());
}

}  // namespace
}  // namespace attnbench
