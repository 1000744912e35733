// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>

#include "lib/backend/backend_info.h"
#include "lib/backend/testing/stub_backend.h"

namespace attnbench {
namespace {

/// Steps of up to this many requests, with as many query tokens each and in all.
Problem steps_of(ForwardMode mode, std::int64_t requests, std::int64_t q_len,
                 std::int64_t q_tokens) {
  Problem problem;
  problem.mode = mode;
  problem.limits = {requests, q_len, q_tokens, 64};
  return problem;
}

TEST(CudaGraphSupport, orders_its_levels_as_vllm_does) {
  EXPECT_EQ(std::min(CudaGraphSupport::kAlways, CudaGraphSupport::kUniformSingleTokenDecode),
            CudaGraphSupport::kUniformSingleTokenDecode);
  EXPECT_EQ(static_cast<int>(CudaGraphSupport::kUniformSingleTokenDecode), 1);
}

TEST(CudaGraphSupport, needs_the_level_that_vllm_asks_of_a_batch) {
  using enum CudaGraphSupport;
  const auto needed = [](ForwardMode mode, std::int64_t requests, std::int64_t q_len,
                         std::int64_t q_tokens) {
    return needed_cuda_graph_support(steps_of(mode, requests, q_len, q_tokens));
  };
  EXPECT_EQ(needed(ForwardMode::kDecode, 3, 1, 3), kUniformSingleTokenDecode);
  EXPECT_EQ(needed(ForwardMode::kDecode, 3, 1, 8), kAlways) << "five rows of no request";
  EXPECT_EQ(needed(ForwardMode::kTargetVerify, 2, 3, 6), kUniformBatch);
  EXPECT_EQ(needed(ForwardMode::kTargetVerify, 2, 2, 4), kUniformBatch) << "one draft token each";
  EXPECT_EQ(needed(ForwardMode::kDraftExtendV2, 2, 3, 6), kUniformBatch);
  EXPECT_EQ(needed(ForwardMode::kTargetVerify, 2, 7, 8), kAlways) << "one and seven";
  EXPECT_EQ(needed(ForwardMode::kMixed, 2, 7, 8), kAlways);
  EXPECT_EQ(needed(ForwardMode::kExtend, 1, 512, 512), kAlways) << "prompts, however alike";
  EXPECT_EQ(needed(ForwardMode::kDraftExtend, 2, 4, 8), kAlways);
}

TEST(CudaGraphCapture, names_the_level_that_a_backend_lacks) {
  const Problem decode = steps_of(ForwardMode::kDecode, 2, 1, 2);
  const Problem extend = steps_of(ForwardMode::kExtend, 2, 7, 14);
  BackendInfo info;
  EXPECT_EQ(supports_cuda_graph(info, decode).reason(), "no CUDA graph on a CPU");
  info.device = DeviceKind::kCuda;
  EXPECT_EQ(supports_cuda_graph(info, decode).reason(),
            "no CUDA graph: decode needs level UNIFORM_SINGLE_TOKEN_DECODE, the backend claims "
            "NEVER");
  info.cuda_graph = CudaGraphSupport::kUniformBatch;
  EXPECT_TRUE(supports_cuda_graph(info, decode));
  EXPECT_EQ(supports_cuda_graph(info, extend).reason(),
            "no CUDA graph: extend needs level ALWAYS, the backend claims UNIFORM_BATCH");
  info.cuda_graph = CudaGraphSupport::kAlways;
  EXPECT_TRUE(supports_cuda_graph(info, extend));
  Problem ragged = decode;
  ragged.cache.layout = KvLayout::kRagged;
  EXPECT_EQ(supports_cuda_graph(info, ragged).reason(),
            "no CUDA graph: ragged keys are tensors of one step, whose addresses change with it");
}

TEST(Plan, cannot_be_updated_unless_it_says_that_it_can) {
  class Silent final : public Plan {
    void run(Stream&) override {}
  };
  Silent silent;
  Plan& plan = silent;
  const auto stream = make_cpu_device(1)->make_stream();
  EXPECT_FALSE(plan.update(ForwardBatch(), *stream));
}

}  // namespace
}  // namespace attnbench
