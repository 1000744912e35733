// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "lib/device/cuda/handles.cuh"

namespace attnbench {

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

}  // namespace attnbench
