// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/topk/topk.h"

#include <gtest/gtest.h>

#include "backends/testing/select_conformance.h"

namespace attnbench::topk {
namespace {

std::unique_ptr<Backend> make() { return std::make_unique<HostSelector>(); }

TEST(TopK, selects_the_keys_of_the_highest_scores_of_all_small_cases) {
  const auto device = make_cpu_device();
  conformance::expect_selected_keys(make, *device);
}

TEST(TopK, attends_to_nothing) {
  const Support attention = make()->supports(problem_of(small_plain_decode()));
  EXPECT_FALSE(attention);
  EXPECT_EQ(attention.reason(), "it selects keys only");
}

}  // namespace
}  // namespace attnbench::topk
