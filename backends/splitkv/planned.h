// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/common/cuda/draft_tree.h"
#include "backends/common/cuda/planning.h"
#include "backends/common/cuda/step_arrays.h"
#include "backends/splitkv/launch.h"
#include "backends/splitkv/plan.h"
#include "lib/backend/backend.h"

namespace attnbench::splitkv {

/// One launch of a splitkv kernel over a work list in GPU memory. Where it is recorded, the memory
/// and the grid have room for the most work that a step within the problem's limits can have.
class Planned final : public StepPlan {
 public:
  Planned(const ForwardBatch& batch, SplitRule rule, PlanMemory& memory);

  void run(Stream& stream) override;

 private:
  void enqueue_step(const ForwardBatch& batch, void* stream) override;
  /// Lays `memory` out for `room` and the batch's index arrays.
  void lay_out(const tiles::Room& room, const ForwardBatch& batch, PlanMemory& memory);
  /// Copies `plan` to where there is room for it, empty items behind it, and finds the slots.
  void enqueue(WorkPlan plan, const ForwardBatch& batch, void* stream);

  SplitRule rule_;
  int multiprocessors_;
  Kernel kernel_;
  Params params_;
  std::byte* counters_ = nullptr;  ///< in device memory; items follow
  std::int64_t num_counters_ = 0;
  TokenSlots slots_;
  DraftTree tree_;
};

}  // namespace attnbench::splitkv
