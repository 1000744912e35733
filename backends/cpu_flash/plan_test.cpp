// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu_flash/plan.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "lib/fixture/fixture.h"
#include "lib/layout/lay_out.h"
#include "lib/scenario/testing/small_cases.h"

namespace attnbench::cpu_flash {
namespace {

Case decode_of(std::vector<std::int64_t> lengths) {
  Case c = small_plain_decode();
  c.requests.clear();
  for (const std::int64_t length : lengths) {
    Request request;
    request.kv_len = length;
    c.requests.push_back(request);
  }
  return c;
}

WorkPlan plan_of(const Case& c) {
  const BatchLayout layout = lay_out(c);
  return plan_work(layout.batch, c.layer);
}

TEST(FlashPlan, splits_a_context_at_multiples_of_512_keys) {
  const WorkPlan plan = plan_of(decode_of({512, 513}));
  ASSERT_EQ(plan.merges.size(), 3u);  // three heads of the second request
  for (const Merge& merge : plan.merges) {
    EXPECT_EQ(merge.request, 1);
    EXPECT_EQ(merge.splits, 2);
  }
  for (const Item& item : plan.items) {
    if (item.request == 0) {
      EXPECT_EQ(item.partial, -1);
    } else if (item.key_begin == 0) {
      EXPECT_EQ(item.key_end, 512);
    } else {
      EXPECT_EQ(item.key_begin, 512);
      EXPECT_EQ(item.key_end, 513);
    }
  }
}

TEST(FlashPlan, splits_at_multiples_of_as_many_keys_as_it_is_told) {
  const Case c = decode_of({512, 513});
  const BatchLayout layout = lay_out(c);
  const WorkPlan plan = plan_work(layout.batch, c.layer, 128);
  ASSERT_EQ(plan.merges.size(), 6u);  // three heads of each request
  EXPECT_EQ(plan.merges.front().splits, 4);
  EXPECT_EQ(plan.merges.back().splits, 5);
}

TEST(FlashPlan, cuts_along_the_list_of_each_token_and_kv_head) {
  Case c = decode_of({2000, 30});
  c.mode = ForwardMode::kExtend;
  for (Request& request : c.requests) request.q_len = 2;
  c = with_selection(c, {.topk = 70, .unit = 8, .groups = SelectionGroups::kKvHeads});
  std::map<std::int64_t, int> pieces;  // by their keys
  for (const Item& item : plan_of(c).items) {
    EXPECT_EQ(item.rows(), c.layer.group_size());
    ++pieces[item.key_end - item.key_begin];
  }
  // Two tokens and three heads of each request. The short one's lists have the 4 units there are.
  EXPECT_EQ(pieces, (std::map<std::int64_t, int>{{512, 6}, {70 * 8 - 512, 6}, {4 * 8, 6}}));
}

TEST(FlashPlan, takes_as_many_heads_together_as_leave_work_for_all_threads) {
  Case c = decode_of({2000, 2000});
  c.layer.heads_q = 24;
  c.layer.heads_kv = 12;
  const BatchLayout layout = lay_out(c);
  const auto heads_of = [&](int threads) {
    std::set<int> heads;
    const WorkPlan plan = plan_work(layout.batch, c.layer, kSplitKeys, threads);
    for (const Item& item : plan.items) heads.insert(item.kv_heads);
    return heads;
  };
  // Eight pieces of 512 keys. A thread has four items or more.
  EXPECT_EQ(heads_of(0), std::set{1});
  EXPECT_EQ(heads_of(1), std::set{6});
  EXPECT_EQ(heads_of(4), std::set{6});
  EXPECT_EQ(heads_of(5), std::set{3});
  EXPECT_EQ(heads_of(9), std::set{2});
  EXPECT_EQ(heads_of(500), std::set{1});
}

TEST(FlashPlan, gives_each_head_of_an_item_partial_results_of_its_own) {
  const Case c = decode_of({1300});
  const BatchLayout layout = lay_out(c);
  const WorkPlan plan = plan_work(layout.batch, c.layer, kSplitKeys, 1);
  std::vector<int> writers(static_cast<std::size_t>(plan.partial_rows));
  for (const Item& item : plan.items) {
    for (int head = 0; head < item.kv_heads; ++head) {
      const Merge& merge = plan.merges[static_cast<std::size_t>(item.kv_head + head)];
      const std::int64_t first = item.partial + head * item.partial_step;
      EXPECT_EQ(merge.kv_head, item.kv_head + head);
      EXPECT_EQ(first, merge.partial + item.key_begin / kSplitKeys * item.rows());
      for (std::int64_t row = first; row < first + item.rows(); ++row) {
        ++writers[static_cast<std::size_t>(row)];
      }
    }
  }
  EXPECT_EQ(writers, std::vector<int>(writers.size(), 1));
}

TEST(FlashPlan, hands_out_the_longest_work_first) {
  const WorkPlan plan = plan_of(decode_of({3, 400, 20}));
  EXPECT_EQ(plan.items.front().request, 1);
  EXPECT_EQ(plan.items.back().request, 0);
}

TEST(FlashPlan, covers_every_row_of_every_head_with_consecutive_keys) {
  for (const Case& c : all_small_cases()) {
    std::map<std::tuple<std::int64_t, int, std::int64_t>, std::int64_t> keys;
    const WorkPlan plan = plan_of(c);
    for (const Item& item : plan.items) {
      for (std::int64_t row = item.row_begin; row < item.row_end; ++row) {
        keys[{item.request, item.kv_head, row}] += item.key_end - item.key_begin;
      }
    }
    std::size_t rows = 0;
    for (std::size_t r = 0; r < c.requests.size(); ++r) {
      rows += static_cast<std::size_t>(c.requests[r].q_len * c.layer.heads_q);
    }
    EXPECT_EQ(keys.size(), rows) << c.id;
  }
}

TEST(FlashPlan, parts_many_rows_evenly_in_steps_of_16) {
  Case c = decode_of({500});
  c.layer.heads_q = c.layer.heads_kv = 1;
  c.mode = ForwardMode::kExtend;
  c.requests[0].q_len = 388;
  std::map<std::int64_t, std::int64_t> tiles;  // first row -> rows
  for (const Item& item : plan_of(c).items) tiles[item.row_begin] = item.rows();
  const std::map<std::int64_t, std::int64_t> want{
      {0, 80}, {80, 80}, {160, 80}, {240, 80}, {320, 68}};
  EXPECT_EQ(tiles, want);
}

TEST(FlashPlan, leaves_out_keys_before_the_window) {
  Case c = decode_of({300});
  c.layer.sliding_window_size = 7;
  for (const Item& item : plan_of(c).items) {
    EXPECT_EQ(item.key_begin, 292);
    EXPECT_EQ(item.key_end, 300);
  }
}

}  // namespace
}  // namespace attnbench::cpu_flash
