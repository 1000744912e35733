// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/mla/find_fp8_kernel.cuh"

namespace attnbench::mla {

template CompiledKernel find_fp8_kernel<__half, __nv_fp8_e4m3>();
template CompiledKernel find_fp8_kernel<__half, __nv_fp8_e5m2>();

}  // namespace attnbench::mla
