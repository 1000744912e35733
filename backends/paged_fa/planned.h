// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/common/cuda/draft_tree.h"
#include "backends/common/cuda/planning.h"
#include "backends/common/cuda/step_arrays.h"
#include "backends/paged_fa/plan.h"
#include "backends/paged_fa/wide_keys.h"
#include "lib/backend/backend.h"

namespace attnbench::paged_fa {

/// A launch of a paged_fa kernel per kind of tile, over items in GPU memory. Where they are
/// recorded, there is a launch for each kind that a step within the problem's limits can have, and
/// the memory has room for the most items of each.
class Planned final : public StepPlan {
 public:
  Planned(const ForwardBatch& batch, PlanMemory& memory);

  void run(Stream& stream) override;

 private:
  struct Launch {
    Kernel kernel;
    Params params;
  };

  void enqueue_step(const ForwardBatch& batch, void* stream) override;
  /// Whether prompts read the keys of an fp8 cache once they are wide.
  [[nodiscard]] bool widens_keys() const;
  /// The batch as the planner sees it.
  [[nodiscard]] PlanInput batch_of(const ForwardBatch& batch) const;
  /// Its plan; of a recorded plan in uniform_'s launches, whatever the keys.
  [[nodiscard]] WorkPlan plan_of(const PlanInput& batch) const;
  /// Lays `memory` out for `room` and the batch's index arrays. The parameters returned are those
  /// that all launches share.
  [[nodiscard]] Params lay_out(const tiles::Room& room, const ForwardBatch& batch,
                               PlanMemory& memory);
  /// Copies `plan` and the batch's lengths to where there is room for them, and finds the pages.
  void enqueue(const WorkPlan& plan, const ForwardBatch& batch, void* stream);

  int multiprocessors_;
  UniformPlan uniform_;  ///< of a recorded plan
  WideKeysPlan wide_plan_;
  WideKeys wide_;
  Params wide_from_;
  const std::int32_t* wide_first_rows_ = nullptr;
  std::vector<Launch> launches_;
  std::byte* memory_ = nullptr;  ///< what the host writes, all of it side by side
  tiles::Room room_;
  std::int64_t requests_ = 0;  ///< that there is room for
  std::int64_t counters_ = 0;
  bool ragged_ = false;  ///< keys lie without pages
  StepPageTable page_table_;
  DraftTree tree_;
};

}  // namespace attnbench::paged_fa
