// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Compressed rows in one softmax with the tokens of a window, beside figures that a pocket
// calculator gives.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <vector>

#include "lib/contents/contents.h"
#include "reference/attention_rows.h"
#include "reference/oracle.h"

namespace attnbench::reference {
namespace {

/// Two tokens in the window, [1, 0] and [0, 1], and the row [1, 1], which are K and V.
ReferenceRow row_of_example(std::optional<double> sink) {
  const RowMatrix q{{1, 0}}, keys{{1, 0}, {0, 1}, {1, 1}};
  QueryRow row;
  row.visible.end = 2;
  row.visible.branch = {{2, 2}};
  row.sink = sink;
  row.sink_in_lse = false;
  return attend_rows(q, {&row, 1}, {.scale = 1 / std::numbers::sqrt2}, keys, keys).front();
}

TEST(CompressedRows, stand_in_one_softmax_with_the_window) {
  const ReferenceRow row = row_of_example(std::nullopt);
  const double e = std::exp(1 / std::numbers::sqrt2);
  EXPECT_NEAR(row.out[0], 2 * e / (2 * e + 1), 1e-12) << "0.80222419";
  EXPECT_NEAR(row.out[1], (1 + e) / (2 * e + 1), 1e-12) << "0.59888791";
  EXPECT_NEAR(row.lse, 1.6206211391, 1e-10);
}

TEST(CompressedRows, leave_weight_to_a_sink_which_the_lse_leaves_out) {
  const ReferenceRow row = row_of_example(0);
  EXPECT_NEAR(row.out[0], 0.6697615493, 1e-10);
  EXPECT_NEAR(row.out[1], 0.5, 1e-10);
  EXPECT_NEAR(row.lse, 1.6206211391, 1e-10);
}

/// Two requests in a layer of rows of 4 tokens and a window of 7.
Case case_of_rows() {
  Case c;
  c.mode = ForwardMode::kExtend;
  c.layer.family = Family::kLatent;
  c.layer.heads_q = 4;
  c.layer.heads_kv = 1;
  c.layer.head_dim_qk = c.layer.head_dim_v = 64;
  c.layer.sliding_window_size = 6;
  c.layer.compress_ratio = 4;
  c.requests = {{.q_len = 5, .kv_len = 5}, {.q_len = 9, .kv_len = 40}};
  return c;
}

TEST(CompressedRows, are_keys_of_contents_of_their_own) {
  const Case c = case_of_rows();
  const Contents contents(c, Fill::kNormal);
  const std::int64_t tokens = c.requests[1].kv_len;
  std::vector<float> row(64), other(64);
  contents.k_row(1, tokens, 0, row);
  for (std::int64_t token = 0; token < 4; ++token) {
    contents.k_row(1, token, 0, other);
    EXPECT_NE(row, other);
  }
  contents.k_row(0, c.requests[0].kv_len, 0, other);
  EXPECT_NE(row, other) << "of another request";
  contents.v_row(1, tokens, 0, other);
  EXPECT_EQ(row, other) << "K is V";
}

// A token of the window within a compressed row takes part as itself, and the row as a whole.
TEST(CompressedRows, are_counted_beside_their_tokens_in_the_window) {
  const Case c = case_of_rows();
  const VisibleKeys seen = keys_seen_by(c.layer, c.requests[0], 4);
  EXPECT_EQ(seen.begin, 0);
  EXPECT_EQ(seen.end, 5);
  ASSERT_EQ(seen.branch.size(), 1u) << "tokens 0 to 3";
  EXPECT_EQ(seen.branch[0].index, 5);
  EXPECT_EQ(seen.count(), 6);
}

}  // namespace
}  // namespace attnbench::reference
