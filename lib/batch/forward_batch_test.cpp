// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/forward_batch.h"

#include <gtest/gtest.h>

#include "lib/base/error.h"
#include "lib/batch/draft_tree.h"

namespace attnbench {
namespace {

TEST(ForwardBatch, decode_counts_the_new_token_in_seq_lens) {
  ForwardBatch batch;
  batch.forward_mode = ForwardMode::kDecode;
  batch.batch_size = 2;
  batch.seq_lens = {7, 3};
  EXPECT_EQ(batch.q_len(1), 1);
  EXPECT_EQ(batch.kv_len(1), 3);
  EXPECT_THROW(static_cast<void>(batch.q_len(2)), InternalError);
  EXPECT_THROW(static_cast<void>(batch.kv_len(-1)), InternalError);
}

TEST(ForwardBatch, the_extend_family_says_how_many_tokens_are_new) {
  for (const auto mode : {ForwardMode::kExtend, ForwardMode::kMixed, ForwardMode::kDraftExtend,
                          ForwardMode::kDllmExtend}) {
    ForwardBatch batch;
    batch.forward_mode = mode;
    batch.batch_size = 3;
    batch.seq_lens = {7, 2, 10};
    batch.extend_prefix_lens = {5, 0, 5};
    batch.extend_seq_lens = {2, 2, 5};
    EXPECT_EQ(batch.q_len(2), 5);
    EXPECT_EQ(batch.kv_len(2), 10);
  }
}

TEST(ForwardBatch, target_verify_adds_the_draft_tokens_to_the_committed_length) {
  ForwardBatch batch;
  batch.forward_mode = ForwardMode::kTargetVerify;
  batch.batch_size = 2;
  batch.seq_lens = {3, 5};
  EXPECT_THROW(static_cast<void>(batch.q_len(0)), InternalError);
  batch.spec_info =
      make_spec_info(std::vector<std::vector<int>>(2, {-1, 0, 0, 0, 1, 1}), batch.seq_lens);
  EXPECT_EQ(batch.q_len(0), 6);
  EXPECT_EQ(batch.kv_len(1), 11);
}

TEST(ForwardBatch, cross_attention_reads_the_keys_of_the_encoder) {
  ForwardBatch batch;
  batch.forward_mode = ForwardMode::kDecode;
  batch.batch_size = 1;
  batch.seq_lens = {7};
  batch.encoder_lens = {1500};
  EXPECT_EQ(batch.q_len(0), 1);
  EXPECT_EQ(batch.kv_len(0), 1500);
}

}  // namespace
}  // namespace attnbench
