// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "lib/device/cuda/handles.cuh"
#include "lib/device/device.h"

namespace attnbench {

/// Enqueues a kernel of one thread that lasts `ns` by the GPU's own timer: the known signal that
/// timers are checked with.
void enqueue_spin(Stream& stream, std::uint64_t ns);

/// Holds a stream back while work is queued behind it, as NVBench's blocking kernel does: the
/// host's launch latencies then lie before the first operation and not between them.
///
/// Whatever is enqueued while a stream is held must neither wait for it nor load a module for the
/// first time: both would wait for the release, which comes after. A hold ends by itself after 5 s.
class Blocker {
 public:
  Blocker();

  /// Holds the stream for the lifetime of this object.
  class Hold {
   public:
    Hold(Blocker& blocker, cudaStream_t stream);
    Hold(const Hold&) = delete;  // one hold, one release
    Hold& operator=(const Hold&) = delete;
    /// Releases also when unwinding: a stream left held would stall every later synchronise.
    ~Hold();

   private:
    Blocker* blocker_;
  };

  /// True when the last hold ended by itself. To be asked once the stream was waited for.
  [[nodiscard]] bool timed_out() const;
  /// When the last hold ended, by globaltimer. To be asked once the stream was waited for.
  [[nodiscard]] std::uint64_t ended_ns() const;

 private:
  PinnedArray<std::uint32_t> released_;  ///< polled by the kernel across the bus
  PinnedArray<std::uint32_t> timed_out_;
  PinnedArray<std::uint64_t> ended_ns_;
};

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
