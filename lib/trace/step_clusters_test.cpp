// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/step_clusters.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace attnbench {
namespace {

/// A step of `decodes` decodes on `kv_len` keys each.
struct DecodeStep {
  DecodeStep(std::int64_t decodes, std::int64_t kv_len) {
    for (std::int64_t i = 0; i < decodes; ++i) {
      parts.push_back({static_cast<std::uint32_t>(i), 1, kv_len, 0, 0, 1, true, false});
    }
    step.requests = parts;
    step.decodes = decodes;
    step.keys = decodes * kv_len;
  }
  DecodeStep(const DecodeStep&) = delete;  // the step points into it
  DecodeStep& operator=(const DecodeStep&) = delete;

  std::vector<StepRequest> parts;
  TracedStep step;
};

TEST(StepClusters, put_steps_of_alike_sizes_together) {
  const DecodeStep small(4, 1000), smallish(4, 1100), large(200, 9000), larger(210, 9500);
  StepClusters clusters;
  for (const DecodeStep* step : {&small, &smallish, &large, &larger, &small}) {
    clusters.add(step->step);
  }
  clusters.divide(2);
  ASSERT_EQ(clusters.clusters().size(), 2u);
  EXPECT_EQ(clusters.cluster_of(small.step), clusters.cluster_of(smallish.step));
  EXPECT_EQ(clusters.cluster_of(large.step), clusters.cluster_of(larger.step));
  EXPECT_NE(clusters.cluster_of(small.step), clusters.cluster_of(large.step));
  const StepCluster& of_small = clusters.clusters()[clusters.cluster_of(small.step)];
  EXPECT_EQ(of_small.steps, 3);
  EXPECT_EQ(of_small.keys, 4 * 1000 * 2 + 4 * 1100);
}

TEST(StepClusters, tell_one_long_request_from_many_short_ones_of_as_many_keys) {
  const DecodeStep even(8, 1000);
  DecodeStep skewed(8, 10);
  skewed.parts[0].kv_len = 8000 - 70;
  skewed.step.keys = 8000;
  StepClusters clusters;
  clusters.add(even.step);
  clusters.add(skewed.step);
  clusters.divide(5);
  EXPECT_EQ(clusters.clusters().size(), 2u) << "no more clusters than kinds of steps";
  EXPECT_NE(clusters.cluster_of(even.step), clusters.cluster_of(skewed.step));
}

TEST(StepClusters, are_spent_where_keys_are_read) {
  // Many tiny steps of three sizes, and two sizes of large steps that read nearly all keys.
  const DecodeStep one(1, 20), two(1, 60), three(1, 180), large(64, 8000), largest(128, 32000);
  StepClusters clusters;
  for (int i = 0; i < 50; ++i) {
    for (const DecodeStep* step : {&one, &two, &three}) clusters.add(step->step);
  }
  for (int i = 0; i < 5; ++i) {
    for (const DecodeStep* step : {&large, &largest}) clusters.add(step->step);
  }
  clusters.divide(3);
  EXPECT_NE(clusters.cluster_of(large.step), clusters.cluster_of(largest.step));
  EXPECT_EQ(clusters.cluster_of(one.step), clusters.cluster_of(three.step));
}

}  // namespace
}  // namespace attnbench
