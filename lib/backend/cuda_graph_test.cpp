// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <vector>

#include "lib/backend/attention_backend.h"
#include "lib/backend/cuda_graph_capture.h"
#include "lib/backend/cuda_graph_limits.h"
#include "lib/base/error.h"
#include "lib/batch/graph_padding.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Lens = std::vector<std::int32_t>;

/// Of a decode with these lengths.
ForwardBatch decode(const ReqToTokenPool& pool, const Lens& lens) {
  ForwardBatch batch;
  batch.forward_mode = ForwardMode::kDecode;
  batch.batch_size = static_cast<std::int64_t>(lens.size());
  batch.seq_lens = lens;
  batch.req_pool_indices.assign(lens.size(), 1);
  batch.positions.assign(lens.size(), 0);
  batch.req_to_token_pool = &pool;
  return batch;
}

class Uncaptured final : public AttentionBackend {
 public:
  Uncaptured() { info_.name = "uncaptured"; }
  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Case&, const Device&) const override {
    return Support::yes();
  }
  void init_forward_metadata(const ForwardBatch&, const AttentionLayer&, Workspace&) override {}

 protected:
  void forward_decode(const AttentionIo&, Stream&) override {}
  void forward_extend(const AttentionIo&, Stream&) override {}

 private:
  BackendInfo info_;
};

TEST(CudaGraphSupport, orders_its_levels_as_vllm_does) {
  EXPECT_EQ(std::min(CudaGraphSupport::kAlways, CudaGraphSupport::kUniformSingleTokenDecode),
            CudaGraphSupport::kUniformSingleTokenDecode);
  EXPECT_EQ(static_cast<int>(CudaGraphSupport::kUniformSingleTokenDecode), 1);
}

TEST(CudaGraphSupport, needs_the_level_that_vllm_asks_of_a_batch) {
  using enum CudaGraphSupport;
  const auto needed = [](ForwardMode mode, const Lens& q_lens) {
    return needed_cuda_graph_support(mode, q_lens);
  };
  EXPECT_EQ(needed(ForwardMode::kDecode, {1, 1, 1}), kUniformSingleTokenDecode);
  EXPECT_EQ(needed(ForwardMode::kTargetVerify, {3, 3}), kUniformBatch);
  EXPECT_EQ(needed(ForwardMode::kTargetVerify, {1, 7}), kAlways);
  EXPECT_EQ(needed(ForwardMode::kMixed, {1, 7}), kAlways);
  EXPECT_EQ(needed(ForwardMode::kExtend, {512}), kAlways) << "prompts, however alike";
  EXPECT_EQ(needed(ForwardMode::kDraftExtend, {4, 4}), kAlways) << "CudaGraphLimits takes none";
}

TEST(CudaGraphCapture, names_the_level_that_a_backend_lacks) {
  Case c;
  c.mode = ForwardMode::kDecode;
  c.requests.resize(2);
  for (Request& request : c.requests) request.q_len = 1;
  BackendInfo info;
  EXPECT_EQ(supports_cuda_graph(info, c).reason(), "no CUDA graph on a CPU");
  info.device = DeviceKind::kCuda;
  EXPECT_EQ(supports_cuda_graph(info, c).reason(),
            "no CUDA graph: decode needs level UNIFORM_SINGLE_TOKEN_DECODE, the backend claims "
            "NEVER");
  info.cuda_graph = CudaGraphSupport::kUniformBatch;
  EXPECT_TRUE(supports_cuda_graph(info, c));
  c.mode = ForwardMode::kExtend;
  for (Request& request : c.requests) request.q_len = 7;
  EXPECT_EQ(supports_cuda_graph(info, c).reason(),
            "no CUDA graph: extend needs level ALWAYS, the backend claims UNIFORM_BATCH");
  info.cuda_graph = CudaGraphSupport::kAlways;
  EXPECT_TRUE(supports_cuda_graph(info, c));
}

TEST(AttentionBackend, says_that_it_cannot_be_captured_unless_it_can) {
  Uncaptured backend;
  const auto device = make_cpu_device(1);
  Workspace workspace(*device);
  const auto stream = device->make_stream();
  const ForwardBatch batch;
  const AttentionLayer layer;
  const auto refusal = ThrowsMessage<InternalError>(HasSubstr("uncaptured has no CUDA graphs"));
  EXPECT_EQ(backend.info().cuda_graph, CudaGraphSupport::kNever);
  EXPECT_THAT([&] { backend.init_cuda_graph_state(8, 8); }, refusal);
  EXPECT_THAT([&] { backend.init_forward_metadata_capture_cuda_graph(batch, layer, workspace); },
              refusal);
  EXPECT_THAT([&] { backend.init_forward_metadata_replay_cuda_graph(batch, layer, *stream); },
              refusal);
}

TEST(CudaGraphLimits, take_the_longest_context_from_the_first_batch_admitted) {
  const ReqToTokenPool pool(4, 64), wider(4, 128);
  CudaGraphLimits limits(4, 4);
  limits.admit(decode(pool, {1, 1, 1, 1}));
  EXPECT_EQ(limits.max_kv_len(), 64);
  limits.admit(decode(wider, {64, 1, 9}));
  EXPECT_EQ(limits.max_kv_len(), 64);
  EXPECT_THAT([&] { limits.check(decode(wider, {65})); },
              ThrowsMessage<InternalError>(HasSubstr("longer")));
}

TEST(CudaGraphLimits, refuse_what_there_is_no_room_for) {
  const ReqToTokenPool pool(4, 64);
  CudaGraphLimits none, limits(2, 2);
  EXPECT_THAT([&] { none.admit(decode(pool, {1})); },
              ThrowsMessage<InternalError>(HasSubstr("before the first capture")));
  EXPECT_THAT([&] { limits.check(decode(pool, {1})); },
              ThrowsMessage<InternalError>(HasSubstr("captured before")));
  EXPECT_THAT(
      [&] {
        limits.admit(decode(pool, {1, 1, 1}));
      },
      ThrowsMessage<InternalError>(HasSubstr("larger")));
  ForwardBatch drafts = decode(pool, {1});
  drafts.forward_mode = ForwardMode::kTargetVerify;
  drafts.spec_info.emplace();
  drafts.spec_info->draft_token_num = 2;
  EXPECT_THAT([&] { limits.admit(drafts); },
              ThrowsMessage<InternalError>(HasSubstr("more query tokens")));
  CudaGraphLimits(2, 4).admit(drafts);
  ForwardBatch extend = decode(pool, {1});
  extend.forward_mode = ForwardMode::kExtend;
  EXPECT_THAT([&] { limits.admit(extend); },
              ThrowsMessage<InternalError>(HasSubstr("only decode")));
  EXPECT_THROW(CudaGraphLimits(2, 3), InternalError);
}

}  // namespace
}  // namespace attnbench
