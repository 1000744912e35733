// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/paged_fa/find_mma_kernel.cuh"

namespace attnbench::paged_fa {

template CompiledKernel find_kernel<__nv_bfloat16, __nv_fp8_e5m2>(const Kernel&);

}  // namespace attnbench::paged_fa
