// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "backends/common/cuda/compiled_kernel.cuh"
#include "lib/device/cuda/check.cuh"

// Programmatic dependent launch (CUDA C++ Programming Guide), from compute capability 9.0 on: a
// kernel's blocks are placed while the one before it still runs.
namespace attnbench::cuda {

/// As kernel.launch(), but blocks may start once every block of the kernel before has ended or has
/// called let_next_start(). The kernel calls await_previous() before it reads what that one writes.
template <class... Arguments>
void launch_early(const CompiledKernel<Arguments...>& kernel, const char* backend, dim3 blocks,
                  void* stream, const Arguments&... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(static_cast<unsigned>(kernel.threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(kernel.shared_bytes);
  config.stream = static_cast<cudaStream_t>(stream);
  config.attrs = &early;
  config.numAttrs = 1;
  check_cuda(cudaLaunchKernelEx(&config, kernel.function, arguments...), backend);
}

/// Whether the code that this GPU runs of a kernel waits where it calls await_previous(): that of a
/// build for earlier architectures does not. Asked once, since all kernels are built for the same.
template <class... Arguments>
[[nodiscard]] bool waits_for_previous(const CompiledKernel<Arguments...>& kernel) {
  static const bool waits = [&kernel] {
    cudaFuncAttributes attributes{};
    check_cuda(cudaFuncGetAttributes(&attributes, kernel.function), "cudaFuncGetAttributes");
    return attributes.ptxVersion >= 90;
  }();
  return waits;
}

/// Waits until the kernel before has ended and what it wrote can be read; returns at once in a
/// kernel that was not launched early.
__device__ __forceinline__ void await_previous() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Lets a kernel that is launched early take what room there is beside this one. All threads of it
/// call await_previous(), or it could end before this one does.
__device__ __forceinline__ void let_next_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace attnbench::cuda
