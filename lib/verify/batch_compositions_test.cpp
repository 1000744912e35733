// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/batch_compositions.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace attnbench {
namespace {

Case case_of(std::int64_t requests) {
  Case c;
  c.seed = 5;
  for (std::int64_t r = 0; r < requests; ++r) {
    Request request;
    request.kv_len = 10 + r;
    c.requests.push_back(request);
  }
  return c;
}

TEST(BatchCompositions, hold_requests_once_with_the_contents_that_they_had) {
  const Case c = case_of(7);
  std::set<std::vector<std::size_t>> different;
  std::set<std::size_t> sizes, met;
  for (const BatchComposition& batch : batch_compositions(c, 100)) {
    ASSERT_EQ(batch.requests.size(), batch.step.requests.size());
    EXPECT_EQ(std::set<std::size_t>(batch.requests.begin(), batch.requests.end()).size(),
              batch.requests.size());
    for (std::size_t i = 0; i < batch.requests.size(); ++i) {
      EXPECT_EQ(batch.step.requests[i].stream, static_cast<std::int64_t>(batch.requests[i]));
      EXPECT_EQ(batch.step.requests[i].kv_len, c.requests[batch.requests[i]].kv_len);
      met.insert(batch.requests[i]);
    }
    sizes.insert(batch.requests.size());
    different.insert(batch.requests);
  }
  EXPECT_EQ(sizes.size(), 7U);
  EXPECT_EQ(met.size(), 7U);
  EXPECT_GT(different.size(), 70U);
}

TEST(BatchCompositions, have_pools_of_their_own_size_and_nothing_that_fills_them_up) {
  Case c = case_of(4);
  c.kv_cache.pool_tokens = 1000;
  c.padding = {.requests = 3, .seq_len = 1};
  const BatchComposition batch = composition_of(c, {2, 0});
  EXPECT_EQ(batch.step.kv_cache.pool_tokens, 0);
  EXPECT_EQ(batch.step.padding.requests, 0);
}

TEST(BatchCompositions, meet_each_request_where_there_are_as_many_batches) {
  std::set<std::size_t> met;
  for (const BatchComposition& batch : batch_compositions(case_of(40), 40)) {
    met.insert(batch.requests.begin(), batch.requests.end());
  }
  EXPECT_EQ(met.size(), 40U);
}

TEST(BatchCompositions, are_the_same_for_the_same_seed) {
  const auto first = batch_compositions(case_of(5), 9), again = batch_compositions(case_of(5), 9);
  Case other = case_of(5);
  other.seed = 6;
  bool differs = false;
  const auto of_other_seed = batch_compositions(other, 9);
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].requests, again[i].requests);
    differs = differs || first[i].requests != of_other_seed[i].requests;
  }
  EXPECT_TRUE(differs);
  EXPECT_TRUE(batch_compositions(case_of(0), 9).empty());
}

TEST(BatchCompositions, keep_the_contents_of_a_request_that_was_taken_out_before) {
  Case c = case_of(2);
  c.requests[1].stream = 9;
  EXPECT_EQ(composition_of(c, {1}).step.requests[0].stream, 9);
}

}  // namespace
}  // namespace attnbench
