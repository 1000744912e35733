// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/splitkv/find_kernel.cuh"

namespace attnbench::splitkv {

template CompiledKernel find_kernel<__nv_bfloat16, __nv_fp8_e5m2>(const Kernel&);

}  // namespace attnbench::splitkv
