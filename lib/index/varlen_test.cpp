// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/varlen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/batch/draft_tree.h"
#include "lib/index/testing/test_batch.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using Slots = std::vector<std::int32_t>;

const std::vector<Slots> kSlots = {slots_from(1, 1, 7), slots_from(20, 1, 2),
                                   slots_from(30, 1, 10)};

TEST(BuildVarlen, has_equal_sums_for_queries_and_keys_when_nothing_is_cached) {
  const TestBatch test(ForwardMode::kExtend, kSlots, {7, 2, 10});
  const Varlen varlen = build_varlen(test.batch);
  EXPECT_THAT(varlen.cu_seqlens_q, ElementsAre(0, 7, 9, 19));
  EXPECT_EQ(varlen.cu_seqlens_k, varlen.cu_seqlens_q);
  EXPECT_EQ(varlen.max_seqlen_q, 10);
}

TEST(BuildVarlen, counts_cached_tokens_for_keys_only) {
  const TestBatch test(ForwardMode::kExtend, kSlots, {2, 2, 5});
  const Varlen varlen = build_varlen(test.batch);
  EXPECT_THAT(varlen.cu_seqlens_q, ElementsAre(0, 2, 4, 9));
  EXPECT_THAT(varlen.cu_seqlens_k, ElementsAre(0, 7, 9, 19));
  EXPECT_EQ(varlen.max_seqlen_q, 5);
  EXPECT_EQ(varlen.max_seqlen_k, 10);
}

TEST(BuildVarlen, of_a_decode_has_one_query_each) {
  const TestBatch test(ForwardMode::kDecode, kSlots, {1, 1, 1});
  const Varlen varlen = build_varlen(test.batch);
  EXPECT_THAT(varlen.cu_seqlens_q, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(varlen.max_seqlen_q, 1);
}

TEST(BuildVarlen, of_a_verified_chain_counts_the_draft_tokens_as_keys) {
  TestBatch test(ForwardMode::kTargetVerify, {slots_from(4, 4, 9)}, {4});
  test.batch.seq_lens = {5};
  test.batch.spec_info =
      make_spec_info(std::vector<std::vector<int>>{{-1, 0, 1, 2}}, test.batch.seq_lens);
  const Varlen varlen = build_varlen(test.batch);
  EXPECT_THAT(varlen.cu_seqlens_q, ElementsAre(0, 4));
  EXPECT_THAT(varlen.cu_seqlens_k, ElementsAre(0, 9));
}

}  // namespace
}  // namespace attnbench
