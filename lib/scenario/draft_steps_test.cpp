// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// Steps of speculative decoding: a draft model's own, and those that verify or extend its drafts.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lib/scenario/testing/only_case.h"

namespace attnbench {
namespace {

TEST(DraftSteps, makes_a_request_of_each_branch_that_a_draft_model_decodes) {
  const Case c =
      only_case("batch: [{mode: draft_decode, prefix_len: [37, 0], draft: {topk: 3, step: 2}}]");
  EXPECT_EQ(c.mode, ForwardMode::kDecode);
  EXPECT_EQ(c.draft_topk, 3);
  ASSERT_EQ(c.requests.size(), 6u);
  for (std::size_t r = 0; r < 6; ++r) {
    const Request& branch = c.requests[r];
    EXPECT_EQ(branch.q_len, 1);
    EXPECT_EQ(branch.shared_len, r < 3 ? 37 : 0);
    EXPECT_EQ(branch.kv_len, branch.shared_len + 2 + 1) << "its own tokens, the new one included";
    EXPECT_EQ(branch.shared_prefix, r < 3 ? 0 : -1);
    EXPECT_EQ(branch.group, "draft_decode");
  }
  ASSERT_EQ(c.prefixes.size(), 1u) << "nothing is shared of what is empty";
  EXPECT_EQ(c.prefixes[0].length, 37);
}

TEST(DraftSteps, lets_drafts_share_a_named_prefix_and_branches_what_their_request_adds_to_it) {
  const Case c = only_case(
      "batch: [{name: a, mode: draft_decode, prefix: system, prefix_len: [40, 21], "
      "draft: {topk: 2, step: 2}}, "
      "{name: b, mode: draft_decode, prefix: a.0, draft: {topk: 2, step: 2}}]",
      "prefixes: {system: 21, a.0: {after: system, tokens: 9}}\n");
  ASSERT_EQ(c.requests.size(), 6u);
  const std::vector<int> prefixes = {1, 1, 0, 0, 2, 2};
  const std::vector<std::int64_t> shared = {40, 40, 21, 21, 30, 30}, own = {3, 3, 3, 3, 3, 3};
  for (std::size_t r = 0; r < 6; ++r) {
    SCOPED_TRACE(r);
    EXPECT_EQ(c.requests[r].shared_prefix, prefixes[r]);
    EXPECT_EQ(c.requests[r].shared_len, shared[r]);
    EXPECT_EQ(c.requests[r].kv_len, shared[r] + own[r]);
    EXPECT_EQ(c.requests[r].q_len, 1);
  }
  ASSERT_EQ(c.prefixes.size(), 3u) << "what adds nothing to the named prefix is that prefix";
  EXPECT_EQ(c.prefixes[0].name, "system");
  EXPECT_EQ(c.prefixes[1].length, 40);
  EXPECT_EQ(c.prefixes[1].parent, 0);
  EXPECT_EQ(c.prefixes[2].name, "a.0") << "a file's prefix, not the one of a's first request";
  EXPECT_EQ(c.prefixes[2].length, 30);
}

TEST(DraftSteps, verifies_chains_on_layers_with_dual_chunks) {
  for (const char* tree : {"{chain: 4}", "{parents: [-1, 0, 1, 2]}"}) {
    const Case c =
        only_case(std::string("attention: {dual_chunk: {chunk_size: 64, local_size: 8}}, "
                              "batch: [{mode: target_verify, prefix_len: 100, tree: ") +
                  tree + "}]");
    EXPECT_EQ(c.requests[0].q_len, 4);
    EXPECT_TRUE(c.layer.dual_chunk.exists());
  }
}

TEST(DraftSteps, takes_draft_extends_and_prompts_by_slices_of_layers) {
  const Case v2 = only_case("batch: [{mode: draft_extend_v2, count: 2, q_len: 4, prefix_len: 9}]");
  EXPECT_EQ(v2.mode, ForwardMode::kDraftExtendV2);
  EXPECT_EQ(v2.requests[1].kv_len, 13);
  const Case split = only_case("batch: [{mode: split_prefill, q_len: 4, prefix_len: 9}]");
  EXPECT_EQ(split.mode, ForwardMode::kSplitPrefill);
  const Case chunk =
      only_case("batch: [{mode: split_prefill, prompt_len: 20, chunk: {size: 8, index: 2}}]");
  EXPECT_EQ(chunk.mode, ForwardMode::kSplitPrefill);
  EXPECT_EQ(chunk.requests[0].q_len, 4);
  EXPECT_EQ(chunk.requests[0].kv_len, 20);
}

}  // namespace
}  // namespace attnbench
