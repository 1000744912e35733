// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/mla/find_wgmma_kernel.cuh"

namespace attnbench::mla {

template CompiledKernel find_warpgroup_kernel<__nv_bfloat16, __nv_bfloat16>(const Kernel&);

}  // namespace attnbench::mla
