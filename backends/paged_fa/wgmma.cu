// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/paged_fa/dispatch.cuh"
#include "backends/paged_fa/wgmma_kernel.cuh"

namespace attnbench::paged_fa {
namespace {

template <class T>
HopperKernel compiled() {
  return {hopper::wgmma_kernel<T>, hopper::kThreads, hopper::Shared::kBytes};
}

}  // namespace

HopperKernel hopper_kernel(const PagedFaKernel& kernel) {
  if (kernel.head_dim_k != hopper::kDim || kernel.head_dim_v != hopper::kDim) return {};
  return kernel.dtype == DType::kF16 ? compiled<__half>() : compiled<__nv_bfloat16>();
}

}  // namespace attnbench::paged_fa
