// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/kernels_in_build.h"
#include "backends/paged_fa/dispatch.cuh"
#include "backends/paged_fa/wgmma_kernel.cuh"

namespace attnbench::paged_fa {
namespace {

template <class T>
HopperKernel compiled() {
  return {hopper::wgmma_kernel<T>, hopper::kThreads, hopper::Shared::kBytes};
}

}  // namespace

HopperKernel hopper_kernel(const Kernel& kernel) {
  if (kernel.head_dim_k != hopper::kDim || kernel.head_dim_v != hopper::kDim) return {};
  if (kernel.dtype == DType::kBF16) return compiled<__nv_bfloat16>();
  if constexpr (kAllKernels) {
    if (kernel.dtype == DType::kF16) return compiled<__half>();
  }
  return {};
}

}  // namespace attnbench::paged_fa
