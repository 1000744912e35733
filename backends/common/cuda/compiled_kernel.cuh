// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "lib/base/error.h"
#include "lib/device/cuda/check.cuh"

namespace attnbench::cuda {

/// A compiled kernel and what its launches need. The default is no kernel.
template <class... Arguments>
struct CompiledKernel {
  void (*function)(Arguments...) = nullptr;
  int threads = 0;       ///< of a block
  int shared_bytes = 0;  ///< of a block, beside its static arrays

  [[nodiscard]] bool exists() const { return function != nullptr; }

  /// Raises the limit of shared memory; once before the first launch, outside of any capture.
  /// Throws InternalError where there is no kernel, CudaError where the limit is too high.
  void prepare() const {
    expects(exists(), "no kernel for what supports() accepted");
    check_cuda(
        cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
        "cudaFuncSetAttribute");
  }

  /// Whether a kernel that is empty unless compiled for sm_90a has code for this GPU: compiled for
  /// any other architecture, it needs few registers.
  [[nodiscard]] bool is_for_sm_90a() const {
    cudaFuncAttributes attributes{};
    check_cuda(cudaFuncGetAttributes(&attributes, function), "cudaFuncGetAttributes");
    return attributes.binaryVersion == 90 && attributes.numRegs > 100;
  }

  /// Enqueues the kernel on a cudaStream_t. Throws CudaError, which names `backend`.
  void launch(const char* backend, dim3 blocks, void* stream, const Arguments&... arguments) const {
    function<<<blocks, static_cast<unsigned>(threads), static_cast<std::size_t>(shared_bytes),
               static_cast<cudaStream_t>(stream)>>>(arguments...);
    check_launch(backend);
  }
};

}  // namespace attnbench::cuda
