// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/problem_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lib/base/error.h"
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
  EXPECT_TRUE(problem_of(with_step(c, StepPart::kPipeline)).can_be_recorded());
  EXPECT_FALSE(problem_of(with_step(c, StepPart::kIndex)).can_be_recorded());
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

using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::ThrowsMessage;

Scenario with(const std::string& measure, const std::string& batch) {
  return parse_scenario("defaults: {model: llama-3.1-8b}\nmixes:\n  m: {batch: [" + batch +
                            "]}\nmeasure: {" + measure + "}\n",
                        "s.yaml");
}

constexpr const char* kDecode33 = "{count: 33, mode: decode, kv_len: 1k}";

TEST(GraphBuckets, pad_a_batch_to_the_smallest_that_holds_it) {
  const Scenario scenario = with("graph_buckets: [1, 2, 4, 64, 128]", kDecode33);
  EXPECT_THAT(scenario.measure.graph_buckets, ElementsAreArray({1, 2, 4, 64, 128}));
  EXPECT_EQ(scenario.cases[0].graph_bucket, 64);
  EXPECT_EQ(with("graph_buckets: 33", kDecode33).cases[0].graph_bucket, 33);
  EXPECT_EQ(with("launch: graph", kDecode33).cases[0].graph_bucket, 0);
}

TEST(GraphBuckets, leave_a_larger_batch_to_eager_launches) {
  const Scenario scenario = with("graph_buckets: [8, 32]", kDecode33);
  EXPECT_EQ(scenario.cases[0].graph_bucket, 0);
  EXPECT_TRUE(exceeds_graph_buckets(scenario.cases[0], scenario.measure));
  EXPECT_FALSE(exceeds_graph_buckets(scenario.cases[0], MeasureConfig{}));
}

TEST(GraphBuckets, are_not_for_steps_that_engines_do_not_pad) {
  for (const char* batch : {"{count: 2, mode: extend, q_len: 16, kv_len: 64}",
                            "{count: 1, mode: extend, q_len: 16, kv_len: 64}, "
                            "{count: 1, mode: decode, kv_len: 64}"}) {
    const Scenario scenario = with("graph_buckets: [1, 2]", batch);
    EXPECT_EQ(scenario.cases[0].graph_bucket, 0) << batch;
    EXPECT_FALSE(exceeds_graph_buckets(scenario.cases[0], scenario.measure)) << batch;
  }
}

TEST(GraphBuckets, are_refused_unless_they_ascend) {
  EXPECT_THAT([] { static_cast<void>(with("graph_buckets: [4, 2]", kDecode33)); },
              ThrowsMessage<ConfigError>(HasSubstr("graph_buckets: 2 comes after 4")));
  EXPECT_THAT([] { static_cast<void>(with("graph_buckets: [0]", kDecode33)); },
              ThrowsMessage<ConfigError>(HasSubstr("a graph bucket")));
  EXPECT_THAT([] { static_cast<void>(with("graph_buckets: []", kDecode33)); },
              ThrowsMessage<ConfigError>(HasSubstr("empty list")));
}

TEST(RecordedProblem, has_room_for_the_bucket_and_the_longest_context) {
  const Scenario scenario = with("graph_buckets: [64]", kDecode33);
  const Problem problem = recorded_problem_of(scenario.cases[0], 4096);
  EXPECT_TRUE(problem.recorded);
  EXPECT_EQ(problem.limits, (StepLimits{64, 1, 64, 4096}));
  EXPECT_EQ(recorded_problem_of(with("", kDecode33).cases[0], 2048).limits,
            (StepLimits{33, 1, 33, 2048}));
}

}  // namespace

}  // namespace attnbench
