// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cascade/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "lib/fixture/fixture.h"
#include "lib/fixture/testing/small_cases.h"

namespace attnbench {
namespace {

struct Planned {
  explicit Planned(const Case& c) : layout(lay_out(c)) {
    layout.batch.req_to_token_pool = &layout.req_to_token_pool;
    plan = plan_cascade(layout.batch, c.layer, 4);
  }
  BatchLayout layout;
  CascadePlan plan;
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

TEST(PlanCascade, covers_every_key_of_every_row_once) {
  const Case c = small_prefix_hits();
  const Planned planned(c);
  const ForwardBatch& batch = planned.layout.batch;
  std::int64_t first = 0;
  for (std::int64_t r = 0; r < batch.batch_size; first += batch.q_len(r), ++r) {
    for (std::int64_t token = 0; token < batch.q_len(r); ++token) {
      for (int head = 0; head < c.layer.heads_q; ++head) {
        const std::int64_t row = (first + token) * c.layer.heads_q + head;
        const CascadeRow& parts = planned.plan.rows[static_cast<std::size_t>(row)];
        std::multiset<std::int64_t> keys;
        const auto add = [&](const std::vector<SplitKvItem>& items, const PartialRows& part,
                             std::int64_t tile_rows, std::int64_t first_row) {
          for (int i = 0; i < part.count; ++i) {
            const std::int64_t at = part.first + std::int64_t{i} * part.step - first_row;
            const auto item = std::ranges::find_if(
                items, [&](const SplitKvItem& each) { return each.partial == at / tile_rows; });
            ASSERT_NE(item, items.end());
            EXPECT_EQ(item->kv_head, head / c.layer.group_size());
            const std::int64_t place = item->row_begin + at % tile_rows;
            EXPECT_EQ(item->q_begin + place / c.layer.group_size(), first + token);
            for (std::int64_t key = item->key_begin; key < item->key_end; ++key) keys.insert(key);
          }
        };
        const std::int64_t prefix_rows = planned.plan.prefix_partials * planned.plan.prefix_rows();
        add(planned.plan.prefix_items, parts.prefix, planned.plan.prefix_rows(), 0);
        add(planned.plan.suffix_items, parts.suffix, planned.plan.suffix_rows(), prefix_rows);
        const std::int64_t visible = batch.kv_len(r) - batch.q_len(r) + token + 1;
        for (std::int64_t key = 0; key < visible; ++key) EXPECT_EQ(keys.count(key), 1u);
      }
    }
  }
}

}  // namespace
}  // namespace attnbench
