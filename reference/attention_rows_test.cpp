// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/attention_rows.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "reference/testing/dense.h"
#include "reference/testing/expect_rows.h"

namespace attnbench::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Three keys, two dims: small enough to follow with a pocket calculator.
struct Tiny {
  RowMatrix q{{1, 0}};
  RowMatrix keys{{1, 0}, {0, 1}, {1, 1}};
  RowMatrix values{{1, 0}, {0, 1}, {2, 2}};
  LogitRule rule{.scale = std::sqrt(0.5)};
  QueryRow row = sees(0, 3);

  [[nodiscard]] ReferenceRow result() const {
    return attend_rows(q, {&row, 1}, rule, keys, values).front();
  }
};

void expect_result(const Tiny& tiny, const std::vector<double>& out, double lse) {
  const ReferenceRow row = tiny.result();
  expect_near(row.out, out, 1e-9);
  EXPECT_NEAR(row.lse, lse, 1e-9);
}

TEST(AttentionRows, weighs_values_by_the_softmax_of_scaled_logits) {
  expect_result(Tiny{}, {1.203336278, 1.0}, 1.620621139);
}

TEST(AttentionRows, caps_logits_after_scaling_them) {
  Tiny tiny;
  tiny.rule.logit_cap = 0.5;
  expect_result(tiny, {1.135786377, 1.0}, 1.415479815);
}

TEST(AttentionRows, multiplies_logits_by_the_temperature_after_the_cap_and_before_alibi) {
  Tiny tiny;
  tiny.row.temperature = 2;  // logits 1.41421356, 0, 1.41421356
  expect_result(tiny, {1.337424822, 1.0}, 2.222079860);
  tiny.rule.logit_cap = 0.5;  // 2 * .444192781
  expect_result(tiny, {1.244132223, 1.0}, 1.768559573);
  EXPECT_DOUBLE_EQ(tiny.result().s, 2 * std::sqrt(0.5)) << "S is of the logits as they are weighed";
  EXPECT_EQ(tiny.result().temperature, 2);
  tiny.rule.logit_cap = 0;
  tiny.row.alibi_slope = 100;
  tiny.row.position = 2;
  expect_result(tiny, {2, 2}, 1.414213562);
}

TEST(AttentionRows, of_two_parts_of_the_keys_merge_to_the_whole) {
  Tiny first, last;
  first.row = sees(0, 2);
  last.row = sees(2, 3);
  expect_result(first, {0.669761549, 0.330238451}, 1.107940308);
  expect_result(last, {2, 2}, 0.707106781);
  const ReferenceRow both = merged(first.result(), last.result());
  expect_near(both.out, std::vector{1.203336278, 1.0}, 1e-9);
  EXPECT_NEAR(both.lse, 1.620621139, 1e-9);
}

/// Keys 0 and 2, which another kernel chose.
QueryRow sees_chosen() {
  QueryRow row;
  row.visible.branch = {{0, 0}, {2, 2}};
  row.sink_in_lse = false;
  return row;
}

TEST(AttentionRows, of_chosen_keys_are_over_these_only) {
  Tiny tiny;
  tiny.row = sees_chosen();
  expect_result(tiny, {1.5, 1.0}, 1.4002539617);
  Tiny first, last;
  first.row.visible = {.branch = {{0, 0}}};
  last.row.visible = {.branch = {{2, 2}}};
  const ReferenceRow both = merged(first.result(), last.result());
  expect_near(both.out, std::vector{1.5, 1.0}, 1e-9);
  EXPECT_NEAR(both.lse, 1.4002539617, 1e-9);
}

// The list [2, 2, 0].
TEST(AttentionRows, of_chosen_keys_count_a_key_as_often_as_its_list_names_it) {
  Tiny tiny;
  tiny.row = sees_chosen();
  tiny.row.visible.branch.back().times = 2;
  expect_result(tiny, {1.6666666667, 1.3333333333}, 1.8057190699);
  EXPECT_EQ(tiny.result().visible, 3);
  EXPECT_NEAR(tiny.result().p_max, 2.0 / 3, 1e-15) << "of the key, both times together";
  Tiny first, last;
  first.row.visible = {.branch = {{0, 0}, {2, 2}}};
  last.row.visible = {.branch = {{2, 2}}};
  const ReferenceRow both = merged(first.result(), last.result());
  expect_near(both.out, std::vector{1.6666666667, 1.3333333333}, 1e-9);
  EXPECT_NEAR(both.lse, 1.8057190699, 1e-9);
}

TEST(AttentionRows, of_chosen_keys_leave_the_sink_out_of_the_lse) {
  Tiny tiny;
  tiny.row = sees_chosen();
  tiny.row.sink = 0;
  expect_result(tiny, {1.2033362782, 0.8022241855}, 1.4002539617);
  tiny.row.sink_in_lse = true;  // as a library with another convention has it
  expect_result(tiny, {1.2033362782, 0.8022241855}, 1.6206211391);
  tiny.row.sink = 800;
  tiny.row.sink_in_lse = false;
  expect_result(tiny, {0, 0}, 1.4002539617);
  tiny.row.visible = {};
  EXPECT_EQ(tiny.result().lse, -kInfinity);
}

TEST(AttentionRows, counts_a_sink_in_the_denominator_only) {
  Tiny tiny;
  tiny.row.sink = 0;
  expect_result(tiny, {1.004642324, 0.834880775}, 1.801087488);
  tiny.row.sink = 1;
  expect_result(tiny, {0.782601546, 0.650359804}, 2.050850664);
  EXPECT_NEAR(tiny.result().p_max, std::exp(std::sqrt(0.5) - 2.050850664), 1e-9) << "of a key";
}

TEST(AttentionRows, a_sink_above_all_logits_neither_overflows_nor_shifts_the_weights) {
  Tiny tiny;
  tiny.row.sink = 800;
  expect_result(tiny, {0, 0}, 800);
  tiny.row.sink = -800;
  expect_result(tiny, {1.203336278, 1.0}, 1.620621139);
}

TEST(AttentionRows, adds_alibi_relative_to_the_query) {
  Tiny tiny;
  tiny.row.alibi_slope = 0.5;
  tiny.row.position = 2;
  expect_result(tiny, {1.420494090, 1.379209981}, 1.218096823);
  tiny.row.position = 0;  // ahead is as far as behind: logits .7071, -.5, -.2929
  expect_result(tiny, {1.041284109, 0.620790019}, 1.218096823);
}

TEST(AttentionRows, adds_alibi_after_the_cap) {
  Tiny tiny;
  tiny.rule.logit_cap = 0.5;
  tiny.row.alibi_slope = 100;
  tiny.row.position = 2;
  expect_result(tiny, {2, 2}, 0.444192781);
}

TEST(AttentionRows, hides_what_lies_before_the_run) {
  Tiny tiny;
  tiny.row = sees(1, 3);
  expect_result(tiny, {1.339523099, 1.669761549}, 1.107940308);
}

TEST(AttentionRows, sees_single_keys_behind_the_run) {
  Tiny tiny, gapped;
  tiny.keys.row(1) = tiny.keys.row(2);
  tiny.values.row(1) = tiny.values.row(2);
  tiny.row = sees(0, 2);
  gapped.row = sees(0, 1);
  gapped.row.visible.branch = {{2, 1}};
  expect_same_result(gapped.result(), tiny.result());
  EXPECT_EQ(gapped.result().visible, 2);
}

TEST(AttentionRows, aligns_two_causal_queries_at_the_bottom_right) {
  const Tiny tiny;
  const RowMatrix queries{{1, 0}, {0, 1}};
  const std::vector<QueryRow> rows{sees(0, 2), sees(0, 3)};
  const auto results = attend_rows(queries, rows, tiny.rule, tiny.keys, tiny.values);
  expect_near(results[0].out, std::vector{0.669761549, 0.330238451}, 1e-9);
  EXPECT_NEAR(results[0].lse, 1.107940308, 1e-9);
  expect_near(results[1].out, std::vector{1.0, 1.203336278}, 1e-9);
  EXPECT_NEAR(results[1].lse, 1.620621139, 1e-9);
}

TEST(AttentionRows, a_row_without_keys_is_zero_with_minus_infinity) {
  Tiny tiny;
  tiny.row = sees(2, 2);
  const ReferenceRow row = tiny.result();
  EXPECT_EQ(row.out, (std::vector<double>{0, 0}));
  EXPECT_EQ(row.a, (std::vector<double>{0, 0}));
  EXPECT_EQ(row.b, (std::vector<double>{0, 0}));
  EXPECT_EQ(row.lse, -kInfinity);
  EXPECT_EQ(row.visible, 0);
  EXPECT_EQ(row.p_max, 0);
}

TEST(AttentionRows, a_row_without_keys_but_a_sink_has_the_sink_as_lse) {
  Tiny tiny;
  tiny.row = sees(0, 0);
  tiny.row.sink = 0.75;
  EXPECT_EQ(tiny.result().out, (std::vector<double>{0, 0}));
  EXPECT_DOUBLE_EQ(tiny.result().lse, 0.75);
}

TEST(AttentionRows, gives_the_terms_of_the_error_bounds) {
  Tiny tiny;
  tiny.q = RowMatrix{{1, -2}};
  tiny.values = RowMatrix{{1, -1}, {0, -3}, {-2, 2}};
  const ReferenceRow row = tiny.result();
  const std::vector<double> logits{std::sqrt(0.5), -std::sqrt(2.0), -std::sqrt(0.5)};
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  const auto p = [&](std::size_t j) { return std::exp(logits[j]) / sum; };
  expect_near(row.a, std::vector{p(0) + 2 * p(2), p(0) + 3 * p(1) + 2 * p(2)}, 1e-15);
  expect_near(row.b, std::vector{std::hypot(p(0), 2 * p(2)), std::hypot(p(0), 3 * p(1), 2 * p(2))},
              1e-15);
  EXPECT_DOUBLE_EQ(row.s, std::sqrt(0.5) * 3);  // the third key meets |1| + |-2|
  EXPECT_DOUBLE_EQ(row.p_max, p(0));
  tiny.row = sees(0, 2);  // S covers visible keys only
  EXPECT_DOUBLE_EQ(tiny.result().s, std::sqrt(0.5) * 2);
}

TEST(AttentionRows, never_touches_blocks_that_no_row_sees) {
  const RowMatrix q = random_matrix(1, 2, 4);
  std::vector<QueryRow> rows{sees(1000, 1010), sees(5000, 5001)};
  std::vector<std::int64_t> loaded;
  const LoadRows ones = [&](std::int64_t begin, Eigen::Ref<RowMatrix> block) {
    loaded.push_back(begin);
    EXPECT_LE(block.rows(), 256);
    block.setOnes();
  };
  const auto results = attend_rows(q, rows, {}, 4, ones, ones);
  EXPECT_EQ(loaded.size(), 4u);  // K and V of two blocks
  expect_near(results[1].out, std::vector<double>(4, 1), 1e-15);
}

}  // namespace
}  // namespace attnbench::reference
