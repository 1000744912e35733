// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Compressed rows beside a window, as DeepSeek-V4's layers see them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "lib/batch/chosen_keys.h"
#include "lib/batch/key_set.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

using Runs = std::vector<KeyRun>;

/// A layer of compressed rows of `ratio` tokens, which shows all of them or `topk`.
AttentionLayer layer_of(std::int64_t ratio, std::int64_t topk = 0) {
  AttentionLayer layer;
  layer.family = Family::kLatent;
  layer.heads_q = 8;
  layer.heads_kv = 1;
  layer.sliding_window_size = 127;
  layer.compress_ratio = ratio;
  if (topk > 0) layer.selection = {.topk = topk, .unit = ratio, .compressed = true};
  return layer;
}

/// Rows that the query at `position` sees, the last token of its request.
std::int64_t rows_at(std::int64_t ratio, std::int64_t position) {
  return KeySet(layer_of(ratio), {.q_len = 1, .kv_len = position + 1}).compressed_rows(0);
}

TEST(CompressedRows, are_seen_from_their_last_token_on) {
  EXPECT_EQ(rows_at(4, 2), 0);
  EXPECT_EQ(rows_at(4, 3), 1);
  EXPECT_EQ(rows_at(4, 7), 2);
  EXPECT_EQ(rows_at(128, 126), 0);
  EXPECT_EQ(rows_at(128, 127), 1);
  EXPECT_EQ(rows_at(128, 255), 2);
}

TEST(CompressedRows, are_160_and_640_keys_with_the_window_at_position_4095) {
  const QueriesAndKeys last{.q_len = 1, .kv_len = 4096};
  const KeySet hca(layer_of(128), last);
  EXPECT_EQ(count_keys(hca.runs(0)), 128 + 32);
  EXPECT_EQ(hca.pairs(), 160);
  const AttentionLayer layer = layer_of(4, 512);
  const KeySet csa(layer, last, choose_keys(layer, 4095, 1, 7));
  EXPECT_EQ(count_keys(csa.runs(0)), 128 + 512);
  EXPECT_EQ(csa.pairs(), 640);
}

TEST(CompressedRows, follow_the_tokens_among_a_request_s_keys) {
  AttentionLayer layer = layer_of(4);
  layer.sliding_window_size = 2;
  const KeySet keys(layer, {.q_len = 3, .kv_len = 10});
  EXPECT_EQ(keys.runs(0), (Runs{{5, 8}, {10, 12}})) << "position 7 completes row 1";
  EXPECT_EQ(keys.runs(1), (Runs{{6, 9}, {10, 12}}));
  EXPECT_EQ(keys.runs(2), (Runs{{7, 12}})) << "its own token is the last one before the rows";
  EXPECT_EQ(keys.seen(), (Runs{{5, 12}}));
  EXPECT_EQ(keys.pairs(), 15);
  EXPECT_THAT(describe_mask({.layer = layer}), HasSubstr("compressed row c of 4 tokens"));
}

TEST(CompressedRows, of_lists_are_complete_at_the_query_and_differ) {
  for (const SelectionPattern pattern : kDrawnPatterns) {
    AttentionLayer layer = layer_of(4, 6);
    layer.selection.pattern = pattern;
    layer.selection.page_size = 16;
    const ChosenKeys lists = choose_keys(layer, 0, 200, 5);
    for (std::int64_t token = 0; token < 200; ++token) {
      std::set<std::int32_t> rows;
      for (const std::int32_t row : lists.list(token, 0)) {
        if (row < 0) continue;
        EXPECT_LT(row, (token + 1) / 4) << to_string(pattern) << " at " << token;
        EXPECT_TRUE(rows.insert(row).second || pattern == SelectionPattern::kDuplicates);
      }
      if (token <= 3) {
        EXPECT_EQ(rows, token < 3 ? std::set<std::int32_t>{} : std::set<std::int32_t>{0});
      }
    }
  }
}

}  // namespace
}  // namespace attnbench
