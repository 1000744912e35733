// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "lib/scenario/testing/small_cases.h"
#include "lib/verify/verify.h"

namespace attnbench {
namespace {

/// Elements that are not finite where nothing has run, less those of the outputs.
std::int64_t unwritten_states(const Case& c) {
  const auto device = make_cpu_device();
  Fixture fixture(c, *device);
  fixture.fill(Fill::kNormal);
  fixture.poison_outputs();
  return take_outputs(fixture, {}).non_finite_elsewhere -
         c.q_tokens() * c.layer.heads_out() * c.layer.head_dim_v;
}

TEST(TakeOutputs, misses_the_state_behind_each_token_of_a_draft) {
  const Case c = small_delta_net_drafts().front();
  EXPECT_EQ(unwritten_states(c), c.q_tokens() * c.layer.heads_out());
}

TEST(TakeOutputs, misses_the_states_of_requests_that_had_none_before) {
  const Case c = small_delta_nets().front();
  const auto fresh = std::ranges::count_if(c.requests, [](const Request& request) {
    return request.prefix_len() == 0 && request.q_len > 0;
  });
  ASSERT_GT(fresh, 0);
  EXPECT_EQ(unwritten_states(c), fresh * c.layer.heads_out());
}

}  // namespace
}  // namespace attnbench
