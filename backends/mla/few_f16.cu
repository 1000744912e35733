// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/mla/find_few_kernel.cuh"

namespace attnbench::mla {

template CompiledKernel find_few_kernel<__half, __half>();
template CompiledKernel find_few_kernel<__half, __nv_fp8_e4m3>();
template CompiledKernel find_few_kernel<__half, __nv_fp8_e5m2>();

}  // namespace attnbench::mla
