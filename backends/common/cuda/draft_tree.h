// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/common/attention_params.h"
#include "backends/common/upload.h"
#include "lib/batch/forward_batch.h"
#include "lib/batch/problem.h"

namespace attnbench {

/// Whether kernels look at a draft tree's mask: where causality decides what else is seen.
[[nodiscard]] inline bool checks_draft_tree(const Problem& problem) {
  return problem.mode == ForwardMode::kTargetVerify && problem.layer.causal &&
         !problem.layer.is_cross_attention;
}

/// The arrays of draft trees as kernels read them: addresses of the device, null where no tree is
/// looked at.
struct DraftTreeArrays {
  const std::uint8_t* custom_mask = nullptr;
  const std::int64_t* mask_indptr = nullptr;
  const std::int64_t* positions = nullptr;

  /// Tells a kernel's parameters.
  void set_in(AttentionParams& params) const {
    params.custom_mask = custom_mask;
    params.mask_indptr = mask_indptr;
    params.positions = positions;
  }
};

/// Those of the batch itself, where an eager plan reads them.
[[nodiscard]] DraftTreeArrays draft_tree_of(const ForwardBatch& batch);

/// Room for the draft trees of any step of a recorded plan, where its kernels read them.
class GraphDraftTree {
 public:
  GraphDraftTree() = default;
  /// Adds to a plan's room as many bytes of mask as SGLang's cuda_graph_custom_mask has
  /// (flashinfer_backend.py), query tokens x longest context; nothing where no tree is looked at.
  GraphDraftTree(const Problem& problem, DeviceRoom& room);
  /// `memory` is where the plan's room begins.
  void place(std::byte* memory);

  /// Copies a batch's arrays here.
  void enqueue_copy(const ForwardBatch& batch, void* stream) const;
  /// Where enqueue_copy() writes.
  [[nodiscard]] DraftTreeArrays arrays() const { return {custom_mask_, mask_indptr_, positions_}; }

 private:
  bool looked_at_ = false;
  std::size_t custom_mask_at_ = 0, mask_indptr_at_ = 0, positions_at_ = 0;
  std::uint8_t* custom_mask_ = nullptr;
  std::int64_t* mask_indptr_ = nullptr;
  std::int64_t* positions_ = nullptr;
};

}  // namespace attnbench
