// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/cuda/draft_tree.h"
#include "lib/base/error.h"
#include "lib/device/cuda/check.cuh"

namespace attnbench {

GraphDraftTree::GraphDraftTree(const CudaGraphLimits& limits, DeviceRoom& room) {
  if (limits.max_q_len() == 1) return;
  custom_mask_ = room.add<std::uint8_t>(limits.max_num_tokens() * limits.max_kv_len());
  mask_indptr_ = room.add<std::int64_t>(limits.max_bs() + 1);
  positions_ = room.add<std::int64_t>(limits.max_num_tokens());
}

void GraphDraftTree::enqueue_copy(const ForwardBatch& batch, void* stream) const {
  const DeviceBatch* const from = batch.device_batch;
  expects(from != nullptr && from->custom_mask != nullptr,
          "a draft tree without its mask on the device");
  const auto copy = [&](auto* to, const auto* values, std::int64_t count) {
    check_cuda(cudaMemcpyAsync(to, values, static_cast<std::size_t>(count) * sizeof(*values),
                               cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream)),
               "cudaMemcpyAsync");
  };
  copy(custom_mask(), from->custom_mask, std::ssize(batch.spec_info->custom_mask));
  copy(mask_indptr(), from->mask_indptr, batch.batch_size + 1);
  copy(positions(), from->positions, batch.q_tokens());
}

}  // namespace attnbench
