// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cascade/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "backends/splitkv/plan.h"
#include "lib/fixture/fixture.h"
#include "lib/layout/lay_out.h"
#include "lib/scenario/testing/small_cases.h"

namespace attnbench::cascade {
namespace {

constexpr int kMultiprocessors = 4;

struct Planned {
  explicit Planned(const Case& c, int multiprocessors = kMultiprocessors) : layout(lay_out(c)) {
    layout.batch.req_to_token_pool = &layout.req_to_token_pool;
    plan = plan_work(layout.batch, c.layer, multiprocessors);
  }
  BatchLayout layout;
  WorkPlan plan;
};

void expect_node(const SharedTree& tree, std::size_t n, const SharedKeys& expected) {
  SCOPED_TRACE(n);
  ASSERT_LT(n, tree.nodes.size());
  const SharedKeys& node = tree.nodes[n];
  EXPECT_EQ(node.begin, expected.begin);
  EXPECT_EQ(node.end, expected.end);
  EXPECT_EQ(node.key_begin, expected.key_begin);
  EXPECT_EQ(node.key_end, expected.key_end);
  EXPECT_EQ(node.parent, expected.parent);
}

TEST(SharedTree, joins_neighbours_that_share_slots) {
  const Planned planned(small_prefix_hits());
  const SharedTree tree = shared_tree(planned.layout.batch);
  // Seven behind 48 tokens, three behind 37 of which 32 fill whole pages, four alone.
  ASSERT_EQ(tree.nodes.size(), 2u);
  expect_node(tree, 0, {0, 7, 0, 48});
  expect_node(tree, 1, {7, 10, 0, 32});
  EXPECT_EQ(tree.last, (std::vector<int>{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, -1, -1, -1, -1}));
  EXPECT_EQ(tree.suffix_begin(6), 48);
  EXPECT_EQ(tree.suffix_begin(10), 0);
}

TEST(SharedTree, has_a_level_for_each_prefix_of_a_branch) {
  const Planned planned(small_prefix_tree());
  const SharedTree tree = shared_tree(planned.layout.batch);
  // Ten requests begin with the 32 tokens of system on whole pages, five of them go on with tools
  // up to 64, three with plain up to 48. agent adds no whole page.
  ASSERT_EQ(tree.nodes.size(), 3u);
  expect_node(tree, 0, {0, 10, 0, 32});
  expect_node(tree, 1, {0, 5, 32, 64, 0});
  expect_node(tree, 2, {5, 8, 32, 48, 0});
  EXPECT_EQ(tree.last, (std::vector<int>{1, 1, 1, 1, 1, 2, 2, 2, 0, 0, -1, -1}));
}

/// A chain of prefixes of 16 tokens each, and two requests behind each of them.
Case chain_of_prefixes(int length) {
  Case c = small_prefix_hits();
  c.mode = ForwardMode::kDecode;
  c.prefixes.clear();
  c.requests.clear();
  for (int p = 0; p < length; ++p) {
    c.prefixes.push_back({"p" + std::to_string(p), 16 * (p + 1), p - 1});
    Request request;
    request.shared_prefix = p;
    request.shared_len = 16 * (p + 1);
    request.kv_len = request.shared_len + 5;
    c.requests.insert(c.requests.end(), 2, request);
  }
  return c;
}

TEST(SharedTree, has_no_more_levels_than_are_merged) {
  const Planned planned(chain_of_prefixes(kMostLevels + 3));
  const SharedTree tree = shared_tree(planned.layout.batch);
  ASSERT_EQ(tree.nodes.size(), static_cast<std::size_t>(kMostLevels));
  expect_node(tree, kMostLevels - 1,
              {2 * (kMostLevels - 1), 2 * (kMostLevels + 3), 16 * (kMostLevels - 1),
               16 * kMostLevels, kMostLevels - 2});
  EXPECT_EQ(tree.suffix_begin(2 * (kMostLevels + 3) - 1), 16 * kMostLevels);
}

/// Seven requests behind 1000 tokens, three of which share no more than 500 with the others' kind,
/// one on its own.
Case behind_prefixes(std::int64_t q_len) {
  Case c = small_prefix_hits();
  c.mode = q_len == 1 ? ForwardMode::kDecode : ForwardMode::kExtend;
  c.prefixes = {{"long", 1000}, {"short", 500}};
  c.requests.clear();
  for (int i = 0; i < 8; ++i) {
    Request request;
    request.q_len = q_len;
    request.shared_prefix = i < 4 ? 0 : i < 7 ? 1 : -1;
    request.shared_len = i < 4 ? 1000 : i < 7 ? 500 : 0;
    request.kv_len = request.shared_len + q_len + 300 * i;
    c.requests.push_back(request);
  }
  return c;
}

/// Three levels of prefixes; one is left and comes again, where it is no neighbour's any more.
Case three_levels(std::int64_t q_len) {
  Case c = behind_prefixes(q_len);
  c.prefixes = {{"system", 320},    {"tools", 528, 0},  {"plain", 512, 0},
                {"agent", 1040, 1}, {"coder", 1600, 1}, {"chat", 560, 2}};
  c.requests.clear();
  for (const int prefix : {0, 3, 3, 3, 1, 4, 4, 2, 5, 5, 0, -1, 3}) {
    Request request;
    request.q_len = q_len;
    request.shared_prefix = prefix;
    if (prefix >= 0) request.shared_len = c.prefixes[static_cast<std::size_t>(prefix)].length;
    request.kv_len = request.shared_len + q_len + 30 * std::ssize(c.requests);
    c.requests.push_back(request);
  }
  return c;
}

using Row = std::pair<std::int64_t, std::int64_t>;  // query token, query head of KV head 0

/// How often each row meets each key.
using Keys = std::map<Row, std::vector<int>>;

void add_keys(Keys& keys, const splitkv::Item& item, int row, int group) {
  const int place = item.row_begin + row;
  auto& met = keys[{item.q_begin + place / group, place % group}];
  const auto end = static_cast<std::size_t>(item.key_end);
  if (met.size() < end) met.resize(end);
  for (auto key = static_cast<std::size_t>(item.key_begin); key < end; ++key) ++met[key];
}

/// The keys of the partial results that the merge joins, row by row, as the merge finds them.
void add_merged(Keys& keys, const WorkPlan& plan, const AttentionLayer& layer) {
  const int group = layer.group_size();
  const auto join = [&](const splitkv::WorkPlan& pass, Row row, std::int64_t first, int count,
                        int row_of_item) {
    for (std::int64_t partial = first; partial < first + count; ++partial) {
      const auto item = std::ranges::find_if(pass.items, [&](const splitkv::Item& each) {
        return each.splits == 0 && each.partial == partial;
      });
      ASSERT_NE(item, pass.items.end());
      ASSERT_LT(row_of_item, std::min(item->rows, pass.partial_rows));
      const int place = item->row_begin + row_of_item;
      EXPECT_EQ(row, Row(item->q_begin + place / group, place % group));
      add_keys(keys, *item, row_of_item, group);
    }
  };
  const int prefix_rows = plan.prefix.many_rows ? 64 : 16;
  for (const MergeTile& tile : plan.tiles) {
    for (int i = 0; i < tile.rows; ++i) {
      const int place = tile.row_begin + i;
      const Row row{tile.q_begin + place / group, place % group};
      for (int level = 0; level < tile.levels_count; ++level) {
        const LevelRows& rows = plan.levels[static_cast<std::size_t>(tile.levels_first + level)];
        const int node_row = rows.row + i;
        join(plan.prefix, row, rows.first + node_row / prefix_rows * rows.count, rows.count,
             node_row % prefix_rows);
      }
      join(plan.suffix, row, tile.suffix_first, tile.suffix_count, i);
    }
  }
}

TEST(PlanCascade, covers_every_key_of_every_row_once) {
  for (const Case& c :
       {small_prefix_hits(), behind_prefixes(1), behind_prefixes(3), behind_prefixes(40),
        small_plain_decode(), small_prefix_tree(), three_levels(1), three_levels(3),
        three_levels(40), chain_of_prefixes(kMostLevels + 3)}) {
    SCOPED_TRACE(c.id + " q " + std::to_string(c.requests[0].q_len));
    const Planned planned(c);
    const ForwardBatch& batch = planned.layout.batch;
    Keys keys;
    for (const splitkv::Item& item : planned.plan.suffix.items) {
      if (item.splits == 0) continue;
      for (int row = 0; row < item.rows; ++row) add_keys(keys, item, row, c.layer.group_size());
    }
    add_merged(keys, planned.plan, c.layer);
    std::int64_t first = 0;
    for (std::int64_t r = 0; r < batch.batch_size; first += batch.q_len(r), ++r) {
      for (std::int64_t token = 0; token < batch.q_len(r); ++token) {
        // The last row of a tile decides how far its keys go; rows before it mask the rest.
        const auto visible = static_cast<std::size_t>(batch.kv_len(r) - batch.q_len(r) + token + 1);
        for (int head = 0; head < c.layer.group_size(); ++head) {
          std::vector<int> met = keys[{first + token, head}];
          ASSERT_GE(met.size(), visible);
          met.resize(visible);
          ASSERT_EQ(met, std::vector<int>(visible, 1)) << first + token << ' ' << head;
        }
      }
    }
    EXPECT_EQ(keys.size(), static_cast<std::size_t>(c.q_tokens() * c.layer.group_size()));
  }
}

TEST(PlanCascade, reads_the_keys_of_each_level_once_for_all) {
  const Planned planned(three_levels(1));
  // All behind system but the last two requests; then agent's, tools alone, coder's; plain's,
  // chat's.
  std::int64_t keys = 0;
  for (const splitkv::Item& item : planned.plan.prefix.items) keys += item.key_end - item.key_begin;
  EXPECT_EQ(keys, 320 + (528 - 320) + (1040 - 528) + (1600 - 528) + (512 - 320) + (560 - 512));
}

TEST(PlanCascade, of_requests_that_share_nothing_is_splitkvs) {
  for (const std::int64_t q_len : {1, 40}) {
    for (const int multiprocessors : {4, 132, 1000}) {  // tiles of 64 rows, or of 16
      Case c = behind_prefixes(q_len);
      for (Request& request : c.requests) request.shared_prefix = -1, request.shared_len = 0;
      const Planned planned(c, multiprocessors);
      EXPECT_TRUE(planned.plan.prefix.items.empty());
      EXPECT_TRUE(planned.plan.tiles.empty());
      const splitkv::WorkPlan alone = splitkv::plan_work(
          planned.layout.batch, c.layer, splitkv::SplitRule::kFill, multiprocessors);
      ASSERT_EQ(planned.plan.suffix.items.size(), alone.items.size());
      for (std::size_t i = 0; i < alone.items.size(); ++i) {
        EXPECT_EQ(
            std::memcmp(&planned.plan.suffix.items[i], &alone.items[i], sizeof(splitkv::Item)), 0);
      }
    }
  }
}

TEST(SharedTree, finds_the_last_key_that_two_requests_share) {
  for (const std::int64_t shared : {0, 16, 32, 496, 1008}) {
    Case c = behind_prefixes(1);
    c.prefixes = {{"p", 1008}};
    c.requests.resize(2);
    for (Request& request : c.requests) {
      request.shared_prefix = shared > 0 ? 0 : -1;
      request.shared_len = shared;
      request.kv_len = 1500;
    }
    const Planned planned(c);
    EXPECT_EQ(shared_tree(planned.layout.batch).suffix_begin(0), shared);
  }
}

}  // namespace
}  // namespace attnbench::cascade
