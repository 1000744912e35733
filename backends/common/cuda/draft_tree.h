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

/// Whether kernels look at a draft tree's mask: where causality decides what else is seen. Lists of
/// chosen keys leave nothing to look up.
[[nodiscard]] inline bool checks_draft_tree(const Problem& problem) {
  return problem.mode == ForwardMode::kTargetVerify && problem.layer.causal &&
         !problem.layer.is_cross_attention && !problem.layer.selection.exists();
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

/// Where a plan's kernels read the draft trees: in the batch itself or, in a recorded plan, in room
/// for those of any step.
class DraftTree {
 public:
  DraftTree() = default;
  /// Adds to a recorded plan's room as many bytes of mask as SGLang's cuda_graph_custom_mask has
  /// (flashinfer_backend.py), query tokens x longest context; nothing where no tree is looked at.
  DraftTree(const Problem& problem, DeviceRoom& room);
  /// `memory` is where the plan's room begins.
  void place(std::byte* memory);

  /// Copies a batch's arrays into the room, if there is any.
  void enqueue(const ForwardBatch& batch, void* stream) const;
  /// For the plan of `batch`. Throws InternalError where its mask is not on the device.
  [[nodiscard]] DraftTreeArrays arrays(const ForwardBatch& batch) const;

 private:
  bool has_room_ = false;
  ArrayPlace<std::uint8_t> custom_mask_at_;
  ArrayPlace<std::int64_t> mask_indptr_at_, positions_at_;
  std::uint8_t* custom_mask_ = nullptr;
  std::int64_t* mask_indptr_ = nullptr;
  std::int64_t* positions_ = nullptr;
};

}  // namespace attnbench
