// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "backends/common/upload.h"
#include "lib/backend/backend.h"

// What the GPU backends' plans have in common. Streams are cudaStream_t.
namespace attnbench {

/// The plan of a batch without requests.
class IdlePlan final : public Plan {
 public:
  void run(Stream&) override {}
};

/// Throws InternalError unless a recorded plan of `problem` can take the step: a decode or
/// target_verify within its limits, whose requests have limits.q_len query tokens each.
void expect_recorded_step(const Problem& problem, const ForwardBatch& batch);

/// Enqueues a copy to `to` on the device. The upload may go when the call returns.
void enqueue_upload(const Upload& upload, std::byte* to, void* stream);

/// Waits for what was enqueued on the default stream: a plan runs on a stream of its own.
void finish_planning();

}  // namespace attnbench
