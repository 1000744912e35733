// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "backends/common/cuda/planning.h"
#include "backends/common/upload.h"
#include "backends/gated_delta_net/gated_delta_net.h"
#include "backends/gated_delta_net/recurrent.cuh"
#include "lib/device/cuda/check.cuh"

namespace attnbench::gated_delta_net {
namespace {

/// Query tokens of all requests over those of the longest one.
[[nodiscard]] std::int64_t busy_requests(const ForwardBatch& batch) {
  std::int64_t all = 0, longest = 1;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    all += batch.q_len(r);
    longest = std::max(longest, batch.q_len(r));
  }
  return all / longest;
}

decltype(&launch_recurrent<Rule::kLinear>) launch_of(Family family) {
  if (family == Family::kGatedDeltaNet) return &launch_recurrent<Rule::kGatedDelta>;
  if (family == Family::kKimiDelta) return &launch_recurrent<Rule::kKimiDelta>;
  return &launch_recurrent<Rule::kLinear>;
}

/// One launch. What it reads of a step beside the tensors is copied into the plan's memory, so that
/// a recorded launch finds the next step's there.
class Planned final : public StepPlan {
 public:
  Planned(const ForwardBatch& batch, PlanMemory& memory) : StepPlan(batch) {
    const AttentionLayer& layer = problem().layer;
    params_.io = batch.tensors;
    params_.states = *batch.state_pool;
    if (batch.intermediate_states != nullptr) params_.intermediate = *batch.intermediate_states;
    params_.requests = batch.batch_size;
    params_.busy_requests = busy_requests(batch);
    params_.group_size = layer.group_size();
    launch_ = launch_of(layer.family);
    params_.scale = static_cast<float>(layer.scale);
    DeviceRoom room;
    qo_indptr_ = room.add<std::int32_t>(batch.batch_size + 1);
    state_indices_ = room.add<std::int32_t>(batch.batch_size);
    has_initial_state_ = room.add<std::uint8_t>(batch.batch_size);
    if (has_branches()) {
      retrieve_parent_token_ =
          room.add<std::int32_t>(std::ssize(batch.spec_info->retrieve_parent_token));
    }
    memory_ = memory.reserve(room.bytes());
    params_.qo_indptr = qo_indptr_.in(memory_);
    params_.state_indices = state_indices_.in(memory_);
    params_.has_initial_state = has_initial_state_.in(memory_);
    if (has_branches()) params_.retrieve_parent_token = retrieve_parent_token_.in(memory_);
    copy_step(batch, nullptr);
    finish_planning();
  }

  void run(Stream& stream) override { launch_(params_, stream.native()); }

 private:
  void enqueue_step(const ForwardBatch& batch, void* stream) override { copy_step(batch, stream); }

  [[nodiscard]] bool has_branches() const {
    return problem().mode == ForwardMode::kTargetVerify && !problem().drafts_are_chains;
  }

  void copy_step(const ForwardBatch& batch, void* stream) const {
    const DeviceBatch& from = device_batch_of(batch);
    const auto requests = static_cast<std::size_t>(batch.batch_size);
    const auto copy = [&](void* to, const void* values, std::size_t bytes) {
      check_cuda(cudaMemcpyAsync(to, values, bytes, cudaMemcpyDeviceToDevice,
                                 static_cast<cudaStream_t>(stream)),
                 "cudaMemcpyAsync");
    };
    copy(qo_indptr_.in(memory_), from.qo_indptr, (requests + 1) * sizeof(std::int32_t));
    copy(state_indices_.in(memory_), from.state_indices, requests * sizeof(std::int32_t));
    copy(has_initial_state_.in(memory_), from.has_initial_state, requests);
    if (!has_branches()) return;
    copy(retrieve_parent_token_.in(memory_), from.retrieve_parent_token,
         batch.spec_info->retrieve_parent_token.size() * sizeof(std::int32_t));
  }

  RecurrentParams params_;
  decltype(launch_of(Family{})) launch_ = nullptr;
  std::byte* memory_ = nullptr;
  ArrayPlace<std::int32_t> qo_indptr_, state_indices_, retrieve_parent_token_;
  ArrayPlace<std::uint8_t> has_initial_state_;
};

}  // namespace

GpuBackend::GpuBackend(Family family) : family_(family), info_(gpu_info(family)) {}

Support GpuBackend::supports(const Problem& problem) const {
  if (Support taken = supports_family(problem, family_); !taken) return taken;
  if (problem.layer.head_dim_qk > kMostKeyDims) {
    return Support::no(
        fmt::format("key dims up to {} only: registers hold the columns of a state", kMostKeyDims));
  }
  return Support::yes();
}

std::unique_ptr<Plan> GpuBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  if (batch.batch_size == 0) return std::make_unique<IdlePlan>();
  return std::make_unique<Planned>(batch, memory);
}

}  // namespace attnbench::gated_delta_net
