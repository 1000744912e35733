// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/cascade_rule.h"

#include <gtest/gtest.h>

#include <vector>

namespace attnbench {
namespace {

/// n decodes behind a common prefix.
struct Decodes {
  explicit Decodes(std::size_t n, std::int64_t prefix = 4096, std::int64_t heads_q = 96,
                   std::int64_t heads_kv = 8)
      : query_lens(n, 1) {
    input.common_prefix_len = prefix;
    input.query_lens = query_lens;
    input.heads_q = heads_q;
    input.heads_kv = heads_kv;
    input.multiprocessors = 132;
  }
  Decodes(const Decodes&) = delete;
  Decodes& operator=(const Decodes&) = delete;

  std::vector<std::int32_t> query_lens;
  CascadeInput input;
};

void expect_rule(const Decodes& decodes, std::int64_t cascade, std::int64_t flash_decoding,
                 bool use) {
  const CascadeEstimate estimate = estimate_cascade(decodes.input);
  EXPECT_EQ(estimate.cascade, cascade);
  EXPECT_EQ(estimate.flash_decoding, flash_decoding);
  EXPECT_EQ(use_cascade_attention(decodes.input).use, use);
}

TEST(UseCascadeAttention, pays_from_17_requests_on) {
  for (const std::int64_t heads_q : {96, 64, 32}) {
    expect_rule(Decodes(8, 4096, heads_q), 32, 16, false);
    expect_rule(Decodes(16, 4096, heads_q), 32, 32, false);
    expect_rule(Decodes(17, 4096, heads_q), 32, 33, true);
    expect_rule(Decodes(32, 4096, heads_q), 32, 63, true);
    expect_rule(Decodes(64, 4096, heads_q), 32, 125, true);
  }
}

TEST(UseCascadeAttention, needs_a_prefix_of_256_tokens_and_8_requests) {
  EXPECT_FALSE(use_cascade_attention(Decodes(64, 255).input).use);
  expect_rule(Decodes(64, 256), 2, 8, true);
  EXPECT_FALSE(use_cascade_attention(Decodes(7, 4096, 32, 32).input).use);
}

TEST(UseCascadeAttention, always_holds_where_flash_decoding_cannot_be_used) {
  EXPECT_TRUE(use_cascade_attention(Decodes(8, 4096, 32, 32).input).use);
  Decodes mixed(8);
  mixed.query_lens[0] = 2;
  EXPECT_TRUE(use_cascade_attention(mixed.input).use);
}

TEST(UseCascadeAttention, never_holds_with_masks_of_its_own_or_a_split_context) {
  for (const int which : {0, 1, 2, 3}) {
    Decodes decodes(64);
    EXPECT_TRUE(use_cascade_attention(decodes.input).use);
    if (which == 0) decodes.input.use_alibi = true;
    if (which == 1) decodes.input.use_sliding_window = true;
    if (which == 2) decodes.input.use_local_attention = true;
    if (which == 3) decodes.input.dcp_world_size = 2;
    EXPECT_FALSE(use_cascade_attention(decodes.input).use) << which;
  }
}

TEST(UseCascadeAttention, says_which_clause_decided) {
  const auto reason = [](const Decodes& decodes) {
    return use_cascade_attention(decodes.input).reason;
  };
  EXPECT_EQ(reason(Decodes(64, 255)), "common prefix of 255 tokens, fewer than 256");
  EXPECT_EQ(reason(Decodes(7)), "7 requests, fewer than 8");
  EXPECT_EQ(reason(Decodes(8, 4096, 32, 32)), "FlashDecoding needs grouped query heads");
  // 32 tiles of keys; 96 blocks of one head each, or 16 x 8 x 32 blocks on 132 SMs: 31.03.
  EXPECT_EQ(reason(Decodes(16)), "32 tiles in turn, 32 by FlashDecoding, on 132 SMs");
  Decodes mixed(8);
  mixed.query_lens[7] = 2;
  EXPECT_EQ(reason(mixed), "FlashDecoding needs single queries");
}

}  // namespace
}  // namespace attnbench
