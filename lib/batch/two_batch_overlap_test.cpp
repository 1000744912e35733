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

/// SGLang's compute_split_seq_index and compute_split_token_index of prompts.
void expect_split(const std::vector<std::int32_t>& lens, std::int64_t requests,
                  std::int64_t tokens) {
  SCOPED_TRACE(testing::PrintToString(lens));
  ForwardBatch batch = decodes(std::ssize(lens));
  batch.forward_mode = ForwardMode::kExtend;
  batch.extend_seq_lens = lens;
  EXPECT_EQ(two_batch_split(batch).requests, requests);
  EXPECT_EQ(two_batch_split(batch).tokens, tokens);
}

TEST(TwoBatchOverlap, balances_the_tokens_of_prompts_and_takes_the_later_of_equals) {
  expect_split({10, 1, 1, 8}, 1, 10);
  expect_split({5, 0, 5}, 2, 5);
}

TEST(TwoBatchOverlap, cuts_a_prompt_in_two_where_whole_ones_leave_a_half_less_than_48_percent) {
  expect_split({400, 30, 30}, 0, 230);
  expect_split({30, 30, 400}, 2, 230);
  expect_split({400}, 0, 200);
  expect_split({48, 52}, 1, 48);
  expect_split({47, 53}, 1, 50);
  expect_split({52, 48}, 1, 52);
  expect_split({53, 47}, 0, 50);
}

TEST(TwoBatchOverlap, cuts_no_prompt_that_ends_at_half_of_the_tokens) {
  expect_split({2, 3}, 1, 2);
}

TEST(TwoBatchOverlap, leaves_prompts_whole_of_which_the_left_half_would_have_too_few_tokens) {
  expect_split({1}, 0, 0);
  expect_split({1, 1, 1}, 2, 2);
  expect_split({0, 0, 3}, 2, 0);
}

TEST(TwoBatchOverlap, has_no_rule_for_a_draft_models_prompts) {
  EXPECT_TRUE(has_two_batch_split(ForwardMode::kIdle));
  EXPECT_TRUE(has_two_batch_split(ForwardMode::kMixed));
  EXPECT_FALSE(has_two_batch_split(ForwardMode::kDraftExtend));
  EXPECT_FALSE(has_two_batch_split(ForwardMode::kSplitPrefill));
}

TEST(TwoBatchOverlap, leaves_an_idle_step_whole) {
  ForwardBatch batch;
  EXPECT_EQ(two_batch_split(batch).requests, 0);
  EXPECT_EQ(two_batch_split(batch).tokens, 0);
}

}  // namespace
}  // namespace attnbench
