// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Softmaxes of units that scores weigh, beside figures that a pocket calculator gives.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/attention_rows.h"
#include "reference/oracle.h"
#include "reference/testing/expect_rows.h"

namespace attnbench::reference {
namespace {

/// Two pages of two keys, whose own softmaxes give 4 and 3, and a window of one key of value 10
/// with the logit 1.5.
struct Pages {
  RowMatrix q{{1}};
  RowMatrix keys{{0}, {std::log(3.0)}, {7}, {7}, {1.5}};
  RowMatrix values{{1}, {5}, {3}, {3}, {10}};
  QueryRow row;

  explicit Pages(std::vector<WeighedUnit> units, bool sees_window = false) {
    row.units = std::move(units);
    for (const WeighedUnit& unit : row.units) row.visible.end = std::max(row.visible.end, unit.end);
    if (sees_window) row.visible.branch = {{4, 4}};
  }
  [[nodiscard]] ReferenceRow result() const {
    return attend_rows(q, {&row, 1}, {.scale = 1}, keys, values).front();
  }
};

TEST(WeighedUnits, add_up_by_the_softmax_of_their_scores) {
  const ReferenceRow row = Pages({{0, 2, 2}, {2, 4, 1}}).result();
  EXPECT_NEAR(row.out[0], 3.7310585786, 1e-9) << "0.7310585786 of 4, 0.2689414214 of 3";
  EXPECT_NEAR(row.lse, std::log(std::exp(2.0) + std::exp(1.0)), 1e-12);
  EXPECT_NEAR(row.p_max, 0.7310585786 * 0.75, 1e-9);
  EXPECT_EQ(row.s, 7) << "of the logits";
}

TEST(WeighedUnits, leave_weight_to_a_sink_of_0_as_softmax1_does) {
  Pages pages({{0, 2, 2}, {2, 4, 1}});
  pages.row.sink = 0;
  pages.row.sink_in_lse = false;
  const ReferenceRow row = pages.result();
  EXPECT_NEAR(row.out[0], 0.6652409558 * 4 + 0.2447284711 * 3, 1e-9);
  EXPECT_NEAR(row.lse, std::log(std::exp(2.0) + std::exp(1.0)), 1e-12) << "without the sink";
}

TEST(WeighedUnits, stand_beside_the_lse_of_a_window) {
  const ReferenceRow row = Pages({{0, 2, 2}, {2, 4, 1}}, true).result();
  EXPECT_NEAR(row.out[0], 5.6568515911, 1e-9)
      << "0.5064803911 of 4, 0.1863237232 of 3, 0.3071958857 of 10";
}

TEST(WeighedUnits, weigh_nothing_where_a_score_is_that_of_a_stale_page) {
  EXPECT_NEAR(Pages({{0, 2, -INFINITY}, {2, 4, 1}}).result().out[0], 3, 1e-12);
  const ReferenceRow none = Pages({{0, 2, -INFINITY}, {2, 4, -INFINITY}}).result();
  EXPECT_EQ(none.out[0], 0) << "not NaN";
  EXPECT_EQ(none.lse, -INFINITY);
  EXPECT_TRUE(std::isfinite(none.s));
}

TEST(WeighedUnits, that_are_listed_twice_add_up_their_weights) {
  Pages twice({{0, 2, 2}, {2, 4, 1}, {2, 4, 2}});
  twice.row.visible.end = 2;
  twice.row.visible.branch = {{2, 2, 2}, {3, 3, 2}};
  const double first = std::exp(2.0), second = std::exp(1.0) + std::exp(2.0);
  EXPECT_NEAR(twice.result().out[0], (4 * first + 3 * second) / (first + second), 1e-12);
}

/// One request of 40 keys whose window of 8 begins with a page.
Case hierarchical(const Selection& selection) {
  Case c;
  c.id = "hierarchical";
  c.seed = 5;
  c.mode = ForwardMode::kDecode;
  c.layer.heads_q = 4;
  c.layer.heads_kv = 2;
  c.layer.head_dim_qk = c.layer.head_dim_v = 32;
  c.layer.scale = 0.2;
  c.layer.selection = selection;
  c.requests.push_back({.q_len = 1, .kv_len = 40});
  return c;
}

TEST(WeighedUnits, of_all_pages_and_a_window_are_dense_attention_in_one_softmax) {
  const Case sparse = hierarchical({.topk = 9, .unit = 4, .window = 8, .fuses_window = true});
  Case dense = sparse;
  dense.layer.selection = {};
  for (int head = 0; head < 4; ++head) {
    const RowId id{.request = 0, .token = 0, .head = head};
    const Contents contents(dense, Fill::kNormal);
    const ReferenceRow all = evaluate_rows(dense, contents, {&id, 1}).front();
    const ReferenceRow row = evaluate_rows(sparse, contents, {&id, 1}).front();
    expect_near(row.out, all.out, 1e-12);
    EXPECT_NEAR(row.lse, all.lse, 1e-12);
    EXPECT_EQ(row.visible, 40);
  }
}

}  // namespace
}  // namespace attnbench::reference
