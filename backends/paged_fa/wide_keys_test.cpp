// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/paged_fa/wide_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "lib/base/int_math.h"

namespace attnbench::paged_fa {
namespace {

PlanInput mixed_step() {
  PlanInput input;
  input.heads_kv = 8;
  input.group = 4;
  input.multiprocessors = 132;
  input.sequences = {
      {1, 9000, nullptr}, {2048, 10000, nullptr}, {16, 70, nullptr}, {64, 70, nullptr}};
  return input;
}

TEST(PagedFaWideKeys, are_those_of_sequences_with_many_rows_and_each_is_widened_once) {
  const WideKeysPlan wide = plan_wide_keys(plan_work(mixed_step()), 4);
  EXPECT_EQ(wide.rows, 10000 + 70);
  EXPECT_THAT(wide.first_rows, testing::ElementsAre(0, 0, 10000, 10000));
  std::set<std::pair<int, int>> keys;
  std::int32_t row = 0;
  for (const WidePiece& piece : wide.pieces) {
    EXPECT_EQ(piece.row, row);
    row += piece.keys;
    for (int i = 0; i < piece.keys; ++i) {
      EXPECT_TRUE(keys.insert({piece.sequence, piece.first_key + i}).second);
      EXPECT_EQ(wide.first_rows[to_size(piece.sequence)] + piece.first_key + i, piece.row + i);
    }
  }
  EXPECT_EQ(std::ssize(keys), 10000 + 70);
  EXPECT_TRUE(keys.contains({1, 9999}));
  EXPECT_TRUE(keys.contains({3, 69}));
  EXPECT_FALSE(keys.contains({2, 0}));
}

TEST(PagedFaWideKeys, of_a_window_begin_with_the_box_of_the_first_that_is_seen) {
  PlanInput input = mixed_step();
  input.window = 1000;
  const WideKeysPlan wide = plan_wide_keys(plan_work(input), 4);
  const std::int32_t first_seen = 10000 - 2048 - 1000;  // 6952, 8 behind a multiple of 32
  ASSERT_FALSE(wide.pieces.empty());
  EXPECT_EQ(wide.pieces.front().first_seen, first_seen);
  EXPECT_EQ(wide.pieces.front().first_key, first_seen - 8);
  EXPECT_EQ(wide.first_rows[1], -(first_seen - 8));
  EXPECT_EQ(wide.rows, 2048 + 1000 + 8 + 70);
}

TEST(PagedFaWideKeys, are_none_in_a_step_of_few_rows) {
  PlanInput input = mixed_step();
  input.sequences = {{1, 9000, nullptr}, {16, 9000, nullptr}};
  const WideKeysPlan wide = plan_wide_keys(plan_work(input), 2);
  EXPECT_TRUE(wide.pieces.empty());
  EXPECT_EQ(wide.rows, 0);
}

TEST(PagedFaWideKeys, are_read_as_ragged_ones_of_two_bytes) {
  WideKeys keys;
  keys.head_dim_k = 192;
  keys.head_dim_v = 128;
  keys.rows = 1000;
  const std::int32_t first_rows[] = {0};
  Params params;
  params.page_table = first_rows;
  params = over_wide_keys(params, keys, first_rows);
  EXPECT_EQ(params.page_table, nullptr);
  EXPECT_EQ(params.first_rows, first_rows);
  EXPECT_EQ(params.page_size, kRaggedPage);
  EXPECT_EQ(params.k_token_stride, 384);
  EXPECT_EQ(params.v_head_stride, 256000);
}

}  // namespace
}  // namespace attnbench::paged_fa
