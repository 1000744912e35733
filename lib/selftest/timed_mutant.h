// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "lib/selftest/fault.h"
#include "lib/selftest/mutant_backend.h"

namespace attnbench {

/// A correct backend around which one fault of timed launches is put.
class TimedMutant final : public Backend {
 public:
  TimedMutant(TimedFault fault, DeviceKind device);

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return honest_.supports(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  friend class PlannedTimedMutant;

  TimedFault fault_;
  DeviceKind device_;
  MutantBackend honest_, wrong_;
  BackendInfo info_;
  int launches_ = 0;  ///< of all plans
  bool reserved_cache_ = false;
  const std::byte* first_q_ = nullptr;  ///< of the first batch that was ever run
};

// What a mutant does on the device of `stream`.

/// Enqueues a copy within the device's memory.
void enqueue_copy(Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes);
/// Sets a part of the L2 aside for lines that outlast a flush; nothing on a CPU.
void reserve_cache();
[[nodiscard]] bool has_cache_reservation();
/// Whether what is enqueued now is recorded instead of run.
[[nodiscard]] bool is_capturing(Stream& stream);

}  // namespace attnbench
