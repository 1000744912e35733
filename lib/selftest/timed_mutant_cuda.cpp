// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "lib/device/cuda/check.cuh"
#include "lib/selftest/timed_mutant.h"

namespace attnbench {

void enqueue_copy(Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (stream.native() == nullptr) {
    std::memcpy(to, from, bytes);
    return;
  }
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice,
                             static_cast<cudaStream_t>(stream.native())),
             "cudaMemcpyAsync");
}

bool is_capturing(Stream& stream) {
  if (stream.native() == nullptr) return false;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check_cuda(cudaStreamIsCapturing(static_cast<cudaStream_t>(stream.native()), &status),
             "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

void reserve_cache() {
  check_cuda(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, std::size_t{4} << 20),
             "cudaDeviceSetLimit");
}

bool has_cache_reservation() {
  std::size_t bytes = 0;
  check_cuda(cudaDeviceGetLimit(&bytes, cudaLimitPersistingL2CacheSize), "cudaDeviceGetLimit");
  return bytes > 0;
}

}  // namespace attnbench
