// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "backends/common/cuda/draft_tree.h"
#include "backends/common/cuda/planning.h"
#include "backends/common/cuda/step_arrays.h"
#include "backends/mla/params.h"
#include "backends/mla/plan.h"
#include "lib/backend/backend.h"

namespace attnbench::mla {

/// The width of a latent row, and how much of it is V.
inline constexpr int kHeadDimK = 576;
inline constexpr int kHeadDimV = 512;

/// A launch of an mla kernel over a work list in GPU memory, and one that merges what it split.
/// Where they are recorded, memory and grids have room for the most work that a step within the
/// problem's limits can have.
class Planned final : public StepPlan {
 public:
  /// `warpgroups`: with the kernels for Hopper where there are.
  Planned(const ForwardBatch& batch, bool warpgroups, PlanMemory& memory);

  void run(Stream& stream) override;

 private:
  void enqueue_step(const ForwardBatch& batch, void* stream) override;
  /// Lays `memory` out for `room` and the batch's index arrays.
  void lay_out(const Room& room, const ForwardBatch& batch, PlanMemory& memory);
  /// Copies `plan` to where there is room for it, empty items and merges behind its own, and finds
  /// the blocks.
  void enqueue(WorkPlan plan, const ForwardBatch& batch, void* stream);

  int multiprocessors_;
  Kernel kernel_;
  Params params_;
  std::byte* memory_ = nullptr;  ///< what the host writes, all of it side by side
  StepPageTable block_table_;
  DraftTree tree_;
};

}  // namespace attnbench::mla
