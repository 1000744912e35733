// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backends/common/cuda/planning.h"
#include "backends/common/cuda/step_arrays.h"
#include "backends/common/upload.h"
#include "backends/cudnn/execution_plan.h"
#include "backends/cudnn/shape.h"
#include "lib/backend/backend.h"

namespace attnbench::cudnn {

/// One of cuDNN's plans, bound to a step: lengths, ragged offsets and page table lie in the plan's
/// memory, where an update of a recorded step overwrites them.
class Planned final : public StepPlan {
 public:
  Planned(const ForwardBatch& batch, PlanMemory& memory, PlanCache& plans);

  void run(Stream& stream) override;
  [[nodiscard]] std::string kernel() const override;

 private:
  void enqueue_step(const ForwardBatch& batch, void* stream) override;
  [[nodiscard]] Addresses addresses_of(const ForwardBatch& batch) const;

  AttentionShape shape_;
  std::shared_ptr<const ExecutionPlan> plan_;
  std::byte* memory_ = nullptr;  ///< what the host writes, all of it side by side
  ArrayPlace<std::int32_t> q_lens_, kv_lens_;
  ArrayPlace<std::int64_t> ragged_q_, ragged_k_, ragged_v_, ragged_out_, ragged_lse_;
  StepPageTable page_table_;
  // Numbers, which cuDNN reads from host memory at each run.
  float scale_ = 1, value_scale_ = 1, masked_ = 0;
  std::int32_t keys_before_ = 0, keys_ahead_ = 0;
  std::optional<Descriptor> bound_;
};

}  // namespace attnbench::cudnn
