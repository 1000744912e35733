// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/problem.h"

#include <gmock/gmock.h>

#include "lib/base/error.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Problem decodes(std::int64_t requests, std::int64_t kv_len) {
  Problem problem;
  problem.mode = ForwardMode::kDecode;
  problem.limits = {requests, 1, requests, kv_len};
  return problem;
}

ForwardBatch decode(const std::vector<std::int32_t>& kv_lens) {
  ForwardBatch batch;
  batch.forward_mode = ForwardMode::kDecode;
  batch.batch_size = static_cast<std::int64_t>(kv_lens.size());
  batch.seq_lens = kv_lens;
  batch.positions.assign(kv_lens.size(), 0);
  return batch;
}

TEST(ExpectStepOf, takes_a_step_within_the_limits) {
  EXPECT_NO_THROW(expect_step_of(decodes(3, 64), decode({1, 64, 9})));
  EXPECT_NO_THROW(expect_step_of(decodes(3, 64), decode({64})));
}

TEST(ExpectStepOf, refuses_what_there_is_no_room_for) {
  const auto refused = [](const Problem& problem, const ForwardBatch& batch, const char* why) {
    EXPECT_THAT([&] { expect_step_of(problem, batch); },
                ThrowsMessage<InternalError>(HasSubstr(why)));
  };
  refused(decodes(2, 64), decode({1, 1, 1}), "more requests");
  refused(decodes(2, 64), decode({65}), "more keys");
  ForwardBatch drafts = decode({1});
  drafts.forward_mode = ForwardMode::kTargetVerify;
  refused(decodes(2, 64), drafts, "another mode");
  drafts.spec_info.emplace();
  drafts.spec_info->draft_token_num = 2;
  Problem verify = decodes(2, 64);
  verify.mode = ForwardMode::kTargetVerify;
  refused(verify, drafts, "more query tokens");
}

TEST(StepLimits, are_uniform_when_every_request_may_be_as_long_as_the_longest) {
  EXPECT_TRUE((StepLimits{3, 4, 12, 9}.is_uniform()));
  EXPECT_FALSE((StepLimits{3, 4, 11, 9}.is_uniform()));
}

}  // namespace
}  // namespace attnbench
