// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/problem_of.h"

#include <gtest/gtest.h>

#include <string>

#include "lib/scenario/scenario.h"

namespace attnbench {
namespace {

bool drafts_are_chains(const std::string& batch) {
  const Scenario scenario = parse_scenario(
      "defaults: {model: llama-3.1-8b}\nmixes:\n  m: {batch: [" + batch + "]}\n", "s.yaml");
  return problem_of(scenario.cases[0]).drafts_are_chains;
}

std::string verify(const std::string& tree) {
  return "{count: 2, mode: target_verify, prefix_len: 9, tree: " + tree + "}";
}

TEST(ProblemOf, says_that_drafts_are_chains_however_the_trees_are_written) {
  EXPECT_TRUE(drafts_are_chains(verify("{chain: 4}")));
  EXPECT_TRUE(drafts_are_chains(verify("{chain: 1}")));
  EXPECT_TRUE(drafts_are_chains(verify("{parents: [-1, 0, 1]}")));
  EXPECT_TRUE(drafts_are_chains(verify("{topk: 1, depth: 3, tokens: 4}")));
}

TEST(ProblemOf, takes_a_tree_that_branches_for_no_chain) {
  EXPECT_FALSE(drafts_are_chains(verify("{topk: 2, depth: 3, tokens: 6}")));
  EXPECT_FALSE(drafts_are_chains(verify("{parents: [-1, 0, 0]}")));
  EXPECT_FALSE(drafts_are_chains(verify("{chain: 3}") + ", " + verify("{parents: [-1, 0, 0]}")));
}

TEST(ProblemOf, has_empty_rows_where_a_query_sees_no_key) {
  Case c;
  c.mode = ForwardMode::kExtend;
  c.requests = {{.q_len = 4, .kv_len = 4}, {.q_len = 5, .kv_len = 4}};
  EXPECT_TRUE(problem_of(c).empty_rows);
  c.layer.is_cross_attention = true;
  EXPECT_FALSE(problem_of(c).empty_rows) << "each query sees all keys of the encoder";
  c.requests[0].kv_len = 0;
  EXPECT_TRUE(problem_of(c).empty_rows);
}

TEST(ProblemOf, counts_the_requests_that_fill_a_batch_up) {
  Case c;
  c.mode = ForwardMode::kDecode;
  c.requests = {{.q_len = 1, .kv_len = 4}};
  c.padding = {.requests = 3, .seq_len = 9};
  EXPECT_EQ(problem_of(c).limits.requests, 4);
  EXPECT_EQ(problem_of(c).limits.q_tokens, 4);
  EXPECT_EQ(problem_of(c).limits.kv_len, 9);
}

TEST(ProblemOf, has_room_for_rows_of_no_request_which_no_uniform_step_has) {
  Case c;
  c.mode = ForwardMode::kDecode;
  c.requests = {{.q_len = 1, .kv_len = 4}, {.q_len = 1, .kv_len = 7}};
  EXPECT_TRUE(problem_of(c).can_be_recorded());
  c.padding = {.seq_len = 9, .tokens = 3};
  EXPECT_EQ(problem_of(c).limits.requests, 2);
  EXPECT_EQ(problem_of(c).limits.q_tokens, 5);
  EXPECT_EQ(problem_of(c).limits.kv_len, 7) << "they have no keys";
  EXPECT_FALSE(problem_of(c).can_be_recorded());
}

TEST(ProblemOf, has_chains_in_steps_that_verify_drafts_alone) {
  EXPECT_FALSE(drafts_are_chains("{count: 2, mode: decode, kv_len: 9}"));
  EXPECT_FALSE(drafts_are_chains("{count: 2, mode: extend, q_len: 4, kv_len: 9}"));
}

}  // namespace
}  // namespace attnbench
