// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/common/upload.h"
#include "lib/backend/cuda_graph_limits.h"
#include "lib/batch/forward_batch.h"
#include "lib/model/attention_layer.h"

namespace attnbench {

/// Whether kernels look at a draft tree's mask: where causality decides what else is seen.
[[nodiscard]] inline bool checks_draft_tree(const ForwardBatch& batch,
                                            const AttentionLayer& layer) {
  return batch.forward_mode == ForwardMode::kTargetVerify && layer.causal &&
         !layer.is_cross_attention;
}

/// The arrays of draft trees where a CUDA graph reads them; addresses of the device.
class GraphDraftTree {
 public:
  /// Room in a block of memory, for max_num_tokens * max_kv_len bytes of mask as SGLang's
  /// cuda_graph_custom_mask (flashinfer_backend.py); nothing where every request has one query
  /// token.
  GraphDraftTree() = default;
  GraphDraftTree(const CudaGraphLimits& limits, DeviceRoom& room);
  void place(std::byte* memory) { memory_ = memory; }

  /// Copies a batch's arrays here.
  void enqueue_copy(const ForwardBatch& batch, void* stream) const;

  [[nodiscard]] std::uint8_t* custom_mask() const { return at<std::uint8_t>(custom_mask_); }
  [[nodiscard]] std::int64_t* mask_indptr() const { return at<std::int64_t>(mask_indptr_); }
  [[nodiscard]] std::int64_t* positions() const { return at<std::int64_t>(positions_); }

 private:
  template <class T>
  [[nodiscard]] T* at(std::size_t offset) const {
    return static_cast<T*>(static_cast<void*>(memory_ + offset));  // aligned for any type
  }

  std::byte* memory_ = nullptr;
  std::size_t custom_mask_ = 0, mask_indptr_ = 0, positions_ = 0;
};

}  // namespace attnbench
