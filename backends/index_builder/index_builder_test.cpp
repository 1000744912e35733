// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/index_builder/index_builder.h"

#include <gmock/gmock.h>

#include "backends/testing/index_conformance.h"

namespace attnbench::index_builder {
namespace {

std::unique_ptr<Backend> make() { return std::make_unique<HostBuilder>(); }

TEST(IndexBuilder, builds_the_arrays_of_all_small_cases) {
  const auto device = make_cpu_device();
  conformance::expect_index_arrays(make, *device);
}

TEST(IndexBuilder, attends_to_nothing) {
  const Support attention = make()->supports(problem_of(small_plain_decode()));
  EXPECT_FALSE(attention);
  EXPECT_EQ(attention.reason(), "it builds index arrays only");
}

}  // namespace
}  // namespace attnbench::index_builder
