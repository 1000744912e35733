// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "lib/device/cuda/handles.cuh"

namespace attnbench {

/// The SM clock between two points of a stream: cycles by clock64 over nanoseconds by globaltimer,
/// both read on the same SMs at both points.
class ClockStamps {
 public:
  /// For the current GPU, which has `sms` SMs.
  explicit ClockStamps(int sms);

  /// Waits until each multiprocessor is free of anybody's work.
  void enqueue_begin(cudaStream_t stream) { enqueue(begin_.get(), shared_bytes_, stream); }
  void enqueue_end(cudaStream_t stream) { enqueue(end_.get(), 0, stream); }

  /// When the last multiprocessor was stamped at the beginning, by globaltimer. To be asked once
  /// the stream was waited for, and before mhz().
  [[nodiscard]] std::uint64_t last_begin_ns() const;

  /// Mean over the SMs stamped at both points; 0 when they lie too close for the timer's step. To
  /// be asked once after the stream was waited for; forgets the stamps.
  [[nodiscard]] double mhz();

  /// Smallest step of globaltimer seen.
  [[nodiscard]] std::uint64_t timer_step_ns() const { return step_ns_; }

  /// One reading; ns 0 where no block ran.
  struct Stamp {
    std::uint64_t ns;
    std::uint64_t cycles;
  };

 private:
  void enqueue(Stamp* stamps, std::size_t shared_bytes, cudaStream_t stream) const;

  int sms_;
  std::size_t shared_bytes_;
  PinnedArray<Stamp> begin_;  ///< by SM number
  PinnedArray<Stamp> end_;
  std::uint64_t step_ns_;
};

}  // namespace attnbench
