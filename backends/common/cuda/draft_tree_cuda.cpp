// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/cuda/draft_tree.h"

#include "backends/common/cuda/planning.h"
#include "lib/base/error.h"
#include "lib/device/cuda/check.cuh"

namespace attnbench {

DraftTreeArrays draft_tree_of(const ForwardBatch& batch) {
  if (!checks_draft_tree(*batch.problem)) return {};
  const DeviceBatch& from = device_batch_of(batch);
  expects(from.custom_mask != nullptr, "a draft tree without its mask on the device");
  return {from.custom_mask, from.mask_indptr, from.positions};
}

GraphDraftTree::GraphDraftTree(const Problem& problem, DeviceRoom& room)
    : looked_at_(checks_draft_tree(problem)) {
  if (!looked_at_) return;
  const StepLimits& limits = problem.limits;
  custom_mask_at_ = room.add<std::uint8_t>(limits.q_tokens * limits.kv_len);
  mask_indptr_at_ = room.add<std::int64_t>(limits.requests + 1);
  positions_at_ = room.add<std::int64_t>(limits.q_tokens);
}

void GraphDraftTree::place(std::byte* memory) {
  if (!looked_at_) return;
  custom_mask_ = reinterpret_cast<std::uint8_t*>(memory + custom_mask_at_);
  mask_indptr_ = reinterpret_cast<std::int64_t*>(memory + mask_indptr_at_);
  positions_ = reinterpret_cast<std::int64_t*>(memory + positions_at_);
}

void GraphDraftTree::enqueue_copy(const ForwardBatch& batch, void* stream) const {
  if (!looked_at_) return;
  const DraftTreeArrays from = draft_tree_of(batch);
  const auto copy = [&](auto* to, const auto* values, std::int64_t count) {
    check_cuda(cudaMemcpyAsync(to, values, static_cast<std::size_t>(count) * sizeof(*values),
                               cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream)),
               "cudaMemcpyAsync");
  };
  copy(custom_mask_, from.custom_mask, std::ssize(batch.spec_info->custom_mask));
  copy(mask_indptr_, from.mask_indptr, batch.batch_size + 1);
  copy(positions_, from.positions, batch.q_tokens());
}

}  // namespace attnbench
