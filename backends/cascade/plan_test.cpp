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
#include "lib/fixture/testing/small_cases.h"

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

TEST(SharedRuns, join_neighbours_that_share_slots) {
  const Planned planned(small_prefix_hits());
  const std::vector<SharedRun> runs = shared_runs(planned.layout.batch);
  // Seven behind 48 tokens, three behind 37 of which 32 fill whole pages, four alone.
  ASSERT_EQ(runs.size(), 6u);
  EXPECT_EQ(runs[0].end, 7);
  EXPECT_EQ(runs[0].length, 48);
  EXPECT_EQ(runs[1].end, 10);
  EXPECT_EQ(runs[1].length, 32);
  for (std::size_t i = 2; i < 6; ++i) EXPECT_EQ(runs[i].length, 0);
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
      const int place = tile.row_begin + i, run_row = tile.prefix_row + i;
      const Row row{tile.q_begin + place / group, place % group};
      join(plan.prefix, row, tile.prefix_first + run_row / prefix_rows * tile.prefix_count,
           tile.prefix_count, run_row % prefix_rows);
      join(plan.suffix, row, tile.suffix_first, tile.suffix_count, i);
    }
  }
}

TEST(PlanCascade, covers_every_key_of_every_row_once) {
  for (const Case& c : {small_prefix_hits(), behind_prefixes(1), behind_prefixes(3),
                        behind_prefixes(40), small_plain_decode()}) {
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

TEST(SharedRuns, find_the_last_key_that_two_requests_share) {
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
    EXPECT_EQ(shared_runs(planned.layout.batch).front().length, shared);
  }
}

}  // namespace
}  // namespace attnbench::cascade
