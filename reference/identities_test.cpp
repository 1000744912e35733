// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// What must hold for any attention, whatever the numbers.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "reference/testing/dense.h"
#include "reference/testing/expect_rows.h"

namespace attnbench::reference {
namespace {

constexpr Eigen::Index kKeys = 600, kDim = 16, kValueDim = 24;  // three blocks, dk != dv

class Identities : public ::testing::Test {
 protected:
  RowMatrix q_ = random_matrix(1, 1, kDim);
  RowMatrix keys_ = random_matrix(2, kKeys, kDim);
  RowMatrix values_ = random_matrix(3, kKeys, kValueDim);
  LogitRule rule_{.scale = 0.25};

  [[nodiscard]] std::vector<double> mean_value() const {
    const Eigen::RowVectorXd mean = values_.colwise().mean();
    return {mean.begin(), mean.end()};
  }
};

TEST_F(Identities, two_by_two_by_hand) {
  const RowMatrix q{{2, 1}}, keys{{1, 0}, {0, 1}}, values{{10, 0}, {0, 10}};
  const ReferenceRow row = attend_all(q, keys, values, {.scale = 1});
  const double p = 1 / (1 + std::exp(-1.0));  // logits 2 and 1
  expect_near(row.out, std::vector{10 * p, 10 * (1 - p)}, 1e-14);
  EXPECT_NEAR(row.lse, std::log(std::exp(2.0) + std::exp(1.0)), 1e-14);
}

TEST_F(Identities, equal_keys_give_the_mean_of_the_values) {
  for (Eigen::Index j = 1; j < kKeys; ++j) keys_.row(j) = keys_.row(0);
  expect_near(attend_all(q_, keys_, values_, rule_).out, mean_value(), 1e-13);
}

TEST_F(Identities, scale_zero_gives_the_mean_of_the_values) {
  const ReferenceRow row = attend_all(q_, keys_, values_, {.scale = 0});
  expect_near(row.out, mean_value(), 1e-13);
  EXPECT_NEAR(row.lse, std::log(600.0), 1e-13);
  EXPECT_NEAR(row.p_max, 1 / 600.0, 1e-16);
}

TEST_F(Identities, one_key_gives_its_value) {
  const QueryRow row = sees(431, 432);
  const ReferenceRow result = attend_rows(q_, {&row, 1}, rule_, keys_, values_).front();
  expect_near(result.out, std::vector<double>(values_.row(431).begin(), values_.row(431).end()), 0);
  EXPECT_EQ(result.p_max, 1);
}

TEST_F(Identities, a_dominating_key_gives_its_value) {
  keys_.row(300) = q_ * (60 / (rule_.scale * q_.squaredNorm()));
  expect_near(attend_all(q_, keys_, values_, rule_).out,
              std::vector<double>(values_.row(300).begin(), values_.row(300).end()), 1e-12);
}

TEST_F(Identities, shifting_all_logits_shifts_the_lse_alone) {
  const ReferenceRow before = attend_all(q_, keys_, values_, rule_);
  for (const double shift : {700.0, -700.0}) {  // beyond what exp can take unshifted
    const RowMatrix towards = q_ * (shift / (rule_.scale * q_.squaredNorm()));
    const RowMatrix shifted = keys_.rowwise() + towards.row(0);
    const ReferenceRow after = attend_all(q_, shifted, values_, rule_);
    expect_near(after.out, before.out, 1e-11);
    EXPECT_NEAR(after.lse, before.lse + shift, 1e-10);
  }
}

TEST_F(Identities, parts_split_at_any_point_merge_to_the_whole) {
  const ReferenceRow whole = attend_all(q_, keys_, values_, rule_);
  for (std::int64_t cut = 0; cut <= kKeys; ++cut) {
    const std::vector<QueryRow> rows{sees(0, cut), sees(cut, kKeys)};
    const RowMatrix twice = q_.replicate(2, 1);
    const auto parts = attend_rows(twice, rows, rule_, keys_, values_);
    expect_same_result(merged(parts[0], parts[1]), whole);
  }
}

// FlashAttention's verify of trees with branches: the prefix without causality, then the nodes that
// a node sees, merged by LSE. The tree: 1, 2, 3 below 0, and 4, 5 below 1.
TEST_F(Identities, two_stages_of_a_verify_merge_to_the_masked_tree) {
  const std::vector<std::vector<std::int64_t>> seen_nodes{{0},    {0, 1},    {0, 2},
                                                          {0, 3}, {0, 1, 4}, {0, 1, 5}};
  for (const std::int64_t prefix : {0, 1, 594}) {
    for (const std::vector<std::int64_t>& nodes : seen_nodes) {
      QueryRow whole = sees(0, prefix), branch = sees(prefix, prefix);
      for (const std::int64_t node : nodes) {
        whole.visible.branch.push_back({prefix + node, prefix + node});
      }
      branch.visible.branch = whole.visible.branch;
      const std::vector<QueryRow> rows{whole, sees(0, prefix), branch};
      const RowMatrix thrice = q_.replicate(3, 1);
      const auto parts = attend_rows(thrice, rows, rule_, keys_, values_);
      expect_same_result(merged(parts[1], parts[2]), parts[0]);
    }
  }
}

TEST_F(Identities, merging_averages_by_exp_of_the_lse) {
  ReferenceRow one, three;
  one.out = {1};
  one.lse = 0;
  three.out = {3};
  three.lse = std::log(3.0);
  EXPECT_DOUBLE_EQ(merged(one, three).out[0], 2.5);
  EXPECT_DOUBLE_EQ(merged(one, three).lse, std::log(4.0));
}

TEST_F(Identities, a_sink_merges_once_as_a_part_without_value) {
  QueryRow with_sink = sees(0, kKeys), sink_only = sees(0, 0);
  with_sink.sink = sink_only.sink = 2.5;
  const std::vector<QueryRow> rows{with_sink, sink_only, sees(0, kKeys)};
  const RowMatrix thrice = q_.replicate(3, 1);
  const auto parts = attend_rows(thrice, rows, rule_, keys_, values_);
  expect_same_result(merged(parts[1], parts[2]), parts[0]);
}

TEST_F(Identities, the_order_of_keys_does_not_matter) {
  Eigen::PermutationMatrix<Eigen::Dynamic> permutation(kKeys);
  for (Eigen::Index j = 0; j < kKeys; ++j) {
    permutation.indices()[j] = static_cast<int>(j * 7 % kKeys);
  }
  const RowMatrix keys = permutation * keys_, values = permutation * values_;
  expect_same_result(attend_all(q_, keys, values, rule_), attend_all(q_, keys_, values_, rule_));
}

TEST_F(Identities, rows_do_not_influence_each_other) {
  const RowMatrix queries = random_matrix(4, 9, kDim);
  std::vector<QueryRow> rows;
  for (std::int64_t i = 0; i < 9; ++i) rows.push_back(sees(60 * i, 60 * i + 61));
  const auto together = attend_rows(queries, rows, rule_, keys_, values_);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RowMatrix one = queries.row(static_cast<Eigen::Index>(i));
    expect_same_result(attend_rows(one, {&rows[i], 1}, rule_, keys_, values_).front(), together[i]);
  }
}

}  // namespace
}  // namespace attnbench::reference
