// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/device/cuda/handles.cuh"

namespace attnbench {

/// Evicts the L2 cache by reading a buffer of twice its size. The usual memset would leave the
/// cache full of dirty lines whose write-back falls into the sample that follows.
class CacheFlush {
 public:
  /// Twice the cache: one pass over exactly its size leaves survivors, replacement being no true
  /// LRU.
  explicit CacheFlush(std::size_t cache_bytes, cudaStream_t stream);

  /// Enqueues the flush. Must be the last work before a sample: any copy or write fills L2, too.
  /// It takes each multiprocessor whole: whatever else runs at its beginning delays its end, and
  /// nothing runs beside it.
  void enqueue(cudaStream_t stream) const;
  /// Enqueues a read of `parts`, each at a multiple of 4: after a flush, all that is to be in the
  /// cache.
  void enqueue_touch(std::span<const std::span<const std::byte>> parts, cudaStream_t stream) const;

 private:
  unsigned blocks_;      ///< one a multiprocessor
  std::size_t vectors_;  ///< of 16 bytes
  DeviceArray<uint4> lines_;
  DeviceArray<std::uint32_t> sink_;  ///< makes the reads observable
};

}  // namespace attnbench
