// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "lib/backend/backend.h"
#include "lib/fixture/device_indices.h"
#include "lib/fixture/fixture.h"

namespace attnbench {

/// Whether a backend's CUDA graph of the case is recorded on padding and then updated: one of a
/// step that engines pad. A pipeline some of whose stages cannot be updated is recorded on the step
/// itself.
[[nodiscard]] bool is_recorded_on_padding(const Case& c, const BackendInfo& info);

/// A case's step as engines run it from a CUDA graph: planned and recorded once on a step of
/// nothing but padding, then brought to the requests of the step, and those that fill its bucket,
/// before each replay.
class RecordedStep {
 public:
  /// Plans. The backend and the fixture, of a case whose problem can be recorded, outlive it. What
  /// the backend throws passes through.
  RecordedStep(Backend& backend, const Fixture& fixture, Device& device);
  RecordedStep(const RecordedStep&) = delete;
  RecordedStep& operator=(const RecordedStep&) = delete;

  /// The work to record.
  [[nodiscard]] Plan& plan() { return *plan_; }
  /// Plans the case's step: what is replayed on `stream` from now on computes it. False when the
  /// plan cannot.
  [[nodiscard]] bool update(Stream& stream) { return plan_->update(step_.batch, stream); }
  [[nodiscard]] PlanMemory& memory() { return memory_; }

 private:
  /// A batch with its own index arrays on the device.
  struct PaddedBatch {
    PaddedBatch(ForwardBatch padded, const Fixture& fixture, const Problem& problem,
                Device& device);

    ForwardBatch batch;
    DeviceIndices indices;
    PipelineParts pipeline;  ///< of one
  };

  Problem problem_;
  PaddedBatch to_record_, step_;
  PlanMemory memory_;
  std::unique_ptr<Plan> plan_;  ///< in memory_
};

/// Updates of `step`, which outlives the work. A refusal, or what the backend throws, becomes a
/// runtime_error.
[[nodiscard]] Work update_of(RecordedStep& step);

}  // namespace attnbench
