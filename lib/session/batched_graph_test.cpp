// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/batched_graph.h"

#include <gtest/gtest.h>

#include "lib/scenario/testing/small_cases.h"

namespace attnbench {
namespace {

constexpr std::int64_t kCache = 60'000'000;
const Case kCase = small_plain_decode();

TEST(BatchedGraph, puts_three_caches_between_two_uses_of_a_set) {
  for (const std::int64_t bytes : {1'000, 262'144, 7'777'777, 16'777'216, 59'999'999, 90'000'000}) {
    const BatchedGraph graph = batched_graph_for(kCase, CacheState::kCold, bytes, kCache);
    EXPECT_GE((graph.sets - 1) * bytes, 3 * kCache) << bytes;
    EXPECT_LT((graph.sets - 2) * bytes, 3 * kCache) << bytes << ": more memory than it takes";
  }
}

TEST(BatchedGraph, uses_every_set) {
  EXPECT_EQ(batched_graph_for(kCase, CacheState::kCold, 18'000'000, kCache).sets, 11);
  EXPECT_EQ(batched_graph_for(kCase, CacheState::kCold, 18'000'000, kCache).forwards, 20);
  EXPECT_EQ(batched_graph_for(kCase, CacheState::kCold, 1'800'000, kCache).sets, 101);
  EXPECT_EQ(batched_graph_for(kCase, CacheState::kCold, 1'800'000, kCache).forwards, 101);
}

TEST(BatchedGraph, of_warm_forwards_stays_on_one_set) {
  EXPECT_EQ(batched_graph_for(kCase, CacheState::kWarm, 1'800'000, kCache).sets, 1);
  EXPECT_EQ(batched_graph_for(kCase, CacheState::kWarm, 1'800'000, kCache).forwards, 20);
}

TEST(BatchedGraph, is_none_where_nothing_moves_or_a_step_writes_before_each_forward) {
  EXPECT_EQ(batched_graph_for(kCase, CacheState::kCold, 0, kCache).forwards, 0);
  EXPECT_EQ(batched_graph_for(kCase, CacheState::kWarm, 0, kCache).forwards, 0);
  EXPECT_EQ(batched_graph_for(kCase, CacheState::kServing, 1'800'000, kCache).forwards, 0);
}

TEST(BatchedGraph, is_none_of_a_step_whose_forwards_change_its_inputs_or_of_a_composed_one) {
  EXPECT_EQ(
      batched_graph_for(small_delta_nets().front(), CacheState::kWarm, 1'800'000, kCache).forwards,
      0);
  Case composed = kCase;
  composed.parts = {kCase, kCase};
  EXPECT_EQ(batched_graph_for(composed, CacheState::kWarm, 1'800'000, kCache).forwards, 0);
}

}  // namespace
}  // namespace attnbench
