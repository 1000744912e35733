// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/indexer/indexer.h"

#include <gtest/gtest.h>

#include "backends/testing/indexer_conformance.h"

namespace attnbench::indexer {
namespace {

std::unique_ptr<Backend> make() { return std::make_unique<HostIndexer>(); }

TEST(Indexer, scores_the_keys_that_queries_see_of_all_small_cases) {
  const auto device = make_cpu_device();
  conformance::expect_scored_keys(make, *device);
}

TEST(Indexer, attends_to_nothing) {
  const Support attention = make()->supports(problem_of(small_plain_decode()));
  EXPECT_FALSE(attention);
  EXPECT_EQ(attention.reason(), "it scores keys only");
}

}  // namespace
}  // namespace attnbench::indexer
