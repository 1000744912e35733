// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/graph_bucket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lib/base/error.h"
#include "lib/scenario/problem_of.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
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
  EXPECT_THAT(scenario.measure.graph_buckets, ElementsAre(1, 2, 4, 64, 128));
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
