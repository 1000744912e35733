// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "lib/device/cuda/check.cuh"

namespace attnbench {

// A kernel whose blocks take all shared memory that a block may have runs on multiprocessors that
// nothing else runs on: what is left is less than the 1 KB that each block of any kernel takes.

[[nodiscard]] inline int attribute_of_gpu(cudaDeviceAttr attribute) {
  int gpu = 0, value = 0;
  check_cuda(cudaGetDevice(&gpu), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&value, attribute, gpu), "cudaDeviceGetAttribute");
  return value;
}
[[nodiscard]] inline int multiprocessors() {
  return attribute_of_gpu(cudaDevAttrMultiProcessorCount);
}
[[nodiscard]] inline std::size_t shared_bytes_of_multiprocessor() {
  return static_cast<std::size_t>(attribute_of_gpu(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

/// Lets the kernel be launched with shared_bytes_of_multiprocessor(), on the current GPU.
inline void take_whole_multiprocessors(const void* kernel) {
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shared_bytes_of_multiprocessor())),
             "cudaFuncSetAttribute");
}

}  // namespace attnbench
