// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <type_traits>

#include "lib/device/cuda/check.cuh"

namespace attnbench {

// Owners of CUDA resources. A failing release cannot be reported from a destructor; the error that
// caused it (they are sticky) was thrown by the call before.

template <auto release>
struct CudaRelease {
  template <typename T>
  void operator()(T* handle) const noexcept {
    static_cast<void>(release(handle));
  }
};

using StreamHandle = std::unique_ptr<CUstream_st, CudaRelease<cudaStreamDestroy>>;
using EventHandle = std::unique_ptr<CUevent_st, CudaRelease<cudaEventDestroy>>;
using GraphHandle = std::unique_ptr<CUgraph_st, CudaRelease<cudaGraphDestroy>>;
using GraphExecHandle = std::unique_ptr<CUgraphExec_st, CudaRelease<cudaGraphExecDestroy>>;

template <typename T>
using DeviceArray = std::unique_ptr<T[], CudaRelease<cudaFree>>;
/// Host memory that the GPU reads and writes in place.
template <typename T>
using PinnedArray = std::unique_ptr<T[], CudaRelease<cudaFreeHost>>;

/// A stream that does not wait for the default stream, nor is waited for by it.
[[nodiscard]] inline StreamHandle make_stream_handle() {
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
             "cudaStreamCreateWithFlags");
  return StreamHandle(stream);
}

[[nodiscard]] inline EventHandle make_event_handle() {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreate(&event), "cudaEventCreate");
  return EventHandle(event);
}

template <typename T>
[[nodiscard]] DeviceArray<T> make_device_array(std::size_t count) {
  static_assert(std::is_trivial_v<T>);
  void* memory = nullptr;
  check_cuda(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
  return DeviceArray<T>(static_cast<T*>(memory));
}

/// Zeroed, and at the same address for the host and for every GPU.
template <typename T>
[[nodiscard]] PinnedArray<T> make_pinned_array(std::size_t count) {
  static_assert(std::is_trivial_v<T>);
  void* memory = nullptr;
  check_cuda(cudaHostAlloc(&memory, count * sizeof(T), cudaHostAllocMapped | cudaHostAllocPortable),
             "cudaHostAlloc");
  PinnedArray<T> array(static_cast<T*>(memory));
  for (std::size_t i = 0; i < count; ++i) array[i] = T{};
  return array;
}

}  // namespace attnbench
