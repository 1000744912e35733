// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "backends/common/upload.h"
#include "lib/backend/backend.h"
#include "lib/batch/problem.h"

// What the GPU backends' plans have in common. Streams are cudaStream_t.
namespace attnbench {

/// The plan of a batch without requests.
class IdlePlan final : public Plan {
 public:
  void run(Stream&) override {}
};

/// A plan of one step that, where the problem is recorded, goes on to the next ones: decodes or
/// target_verifies within the problem's limits, whose requests have limits.q_len query tokens each.
class StepPlan : public Plan {
 public:
  /// Throws InternalError where a recorded plan cannot take the step.
  [[nodiscard]] bool update(const ForwardBatch& batch, Stream& stream) final;

 protected:
  /// Throws likewise.
  explicit StepPlan(const ForwardBatch& batch);
  [[nodiscard]] const Problem& problem() const { return problem_; }

  /// Brings to the device what the recorded launches read of a step.
  virtual void enqueue_step(const ForwardBatch& batch, void* stream) = 0;

 private:
  Problem problem_;
};

/// Enqueues a copy to `to` on the device. The upload may go when the call returns.
void enqueue_upload(const Upload& upload, std::byte* to, void* stream);

/// Waits for what was enqueued on the default stream: a plan runs on a stream of its own.
void finish_planning();

}  // namespace attnbench
