// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/cuda/draft_tree.h"

#include "backends/common/cuda/planning.h"
#include "lib/base/error.h"
#include "lib/device/cuda/check.cuh"

namespace attnbench {
namespace {

DraftTreeArrays arrays_of(const ForwardBatch& batch) {
  if (!checks_draft_tree(*batch.problem)) return {};
  const DeviceBatch& from = device_batch_of(batch);
  expects(from.custom_mask != nullptr, "a draft tree without its mask on the device");
  return {from.custom_mask, from.mask_indptr, from.positions};
}

}  // namespace

DraftTree::DraftTree(const Problem& problem, DeviceRoom& room)
    : has_room_(problem.recorded && checks_draft_tree(problem)) {
  if (!has_room_) return;
  const StepLimits& limits = problem.limits;
  custom_mask_at_ = room.add<std::uint8_t>(limits.q_tokens * limits.kv_len);
  mask_indptr_at_ = room.add<std::int64_t>(limits.requests + 1);
  positions_at_ = room.add<std::int64_t>(limits.q_tokens);
}

void DraftTree::place(std::byte* memory) {
  if (!has_room_) return;
  custom_mask_ = custom_mask_at_.in(memory);
  mask_indptr_ = mask_indptr_at_.in(memory);
  positions_ = positions_at_.in(memory);
}

DraftTreeArrays DraftTree::arrays(const ForwardBatch& batch) const {
  if (has_room_) return {custom_mask_, mask_indptr_, positions_};
  return arrays_of(batch);
}

void DraftTree::enqueue(const ForwardBatch& batch, void* stream) const {
  if (!has_room_) return;
  const DraftTreeArrays from = arrays_of(batch);
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
