// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/backend/plan_memory.h"
#include "lib/batch/device_batch.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {

/// Neighbouring requests of an extend or mixed batch as a batch of their own: its tensors are rows
/// of the whole one's, which must outlive it, and both have one cache.
class BatchRows {
 public:
  /// Requests [first, first + count) as a step of `problem`, whose mode is kDecode, where each of
  /// them has one query token, or kExtend. Allocates and copies what cannot be shared, the
  /// cumulative query lengths, in `memory`.
  BatchRows(const ForwardBatch& whole, std::int64_t first, std::int64_t count,
            const Problem& problem, PlanMemory& memory);
  BatchRows(const BatchRows&) = delete;  // batch() points into it
  BatchRows& operator=(const BatchRows&) = delete;

  [[nodiscard]] const ForwardBatch& batch() const { return batch_; }

 private:
  Problem problem_;
  KvPool pool_;  ///< with the scales of these requests, where they have some
  DeviceBatch device_batch_;
  ForwardBatch batch_;
};

}  // namespace attnbench
