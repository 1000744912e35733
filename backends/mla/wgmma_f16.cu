// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/mla/find_wgmma_kernel.cuh"

namespace attnbench::mla {

template CompiledKernel find_warpgroup_kernel<__half, __half>(const Kernel&);
template CompiledKernel find_warpgroup_kernel<__half, __nv_fp8_e4m3>(const Kernel&);
template CompiledKernel find_warpgroup_kernel<__half, __nv_fp8_e5m2>(const Kernel&);

}  // namespace attnbench::mla
