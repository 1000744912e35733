// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/kernels_in_build.h"
#include "backends/mla/find_wgmma_kernel.cuh"

namespace attnbench::mla {

template CompiledKernel find_warpgroup_kernel<__nv_bfloat16, __nv_fp8_e4m3>(const Kernel&);
template CompiledKernel find_warpgroup_kernel<__nv_bfloat16, ScaledBlocks>(const Kernel&);
#ifndef ATTNBENCH_KERNELS_CI
template CompiledKernel find_warpgroup_kernel<__nv_bfloat16, __nv_fp8_e5m2>(const Kernel&);
#endif

}  // namespace attnbench::mla
