// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/kernels_in_build.h"
#include "backends/mla/dispatch.cuh"
#include "backends/mla/wgmma_kernel.cuh"

namespace attnbench::mla {
namespace {

template <class T>
CompiledKernel compiled() {
  return {hopper::wgmma_kernel<T>, hopper::kThreads, hopper::Shared::kBytes};
}

}  // namespace

CompiledKernel warpgroup_kernel(DType dtype) {
  if constexpr (kAllKernels) {
    if (dtype == DType::kF16) return compiled<__half>();
  }
  return compiled<__nv_bfloat16>();
}

}  // namespace attnbench::mla
