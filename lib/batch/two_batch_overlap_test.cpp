// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/two_batch_overlap.h"

#include <gtest/gtest.h>

#include <vector>

namespace attnbench {
namespace {

ForwardBatch decodes(std::int64_t requests) {
  ForwardBatch batch;
  batch.forward_mode = ForwardMode::kDecode;
  batch.batch_size = requests;
  return batch;
}

TEST(TwoBatchOverlap, halves_the_requests_of_decodes) {
  EXPECT_EQ(two_batch_split(decodes(8)).requests, 4);
  EXPECT_EQ(two_batch_split(decodes(7)).requests, 3);
  EXPECT_EQ(two_batch_split(decodes(7)).tokens, 3);
  EXPECT_EQ(two_batch_split(decodes(1)).requests, 0);
}

TEST(TwoBatchOverlap, halves_the_requests_of_draft_trees) {
  ForwardBatch batch = decodes(4);  // 20 tokens
  batch.forward_mode = ForwardMode::kTargetVerify;
  batch.spec_info = SpecInfo{};
  batch.spec_info->draft_token_num = 5;
  EXPECT_EQ(two_batch_split(batch).requests, 2);
  EXPECT_EQ(two_batch_split(batch).tokens, 10);
}

TEST(TwoBatchOverlap, balances_the_tokens_of_prompts_and_takes_the_later_of_equals) {
  EXPECT_EQ(split_extend_lens(std::vector<std::int32_t>{10, 1, 1, 8}), 1);
  EXPECT_EQ(split_extend_lens(std::vector<std::int32_t>{5, 0, 5}), 2);
  EXPECT_EQ(split_extend_lens(std::vector<std::int32_t>{7}), 0) << "one request has no second half";
  ForwardBatch batch = decodes(4);
  batch.forward_mode = ForwardMode::kExtend;
  batch.extend_seq_lens = {10, 1, 1, 8};
  EXPECT_EQ(two_batch_split(batch).tokens, 10);
}

TEST(TwoBatchOverlap, leaves_an_idle_step_whole) {
  ForwardBatch batch;
  EXPECT_EQ(two_batch_split(batch).requests, 0);
  EXPECT_EQ(two_batch_split(batch).tokens, 0);
}

}  // namespace
}  // namespace attnbench
