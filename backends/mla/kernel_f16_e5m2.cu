// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/mla/find_kernel.cuh"

namespace attnbench::mla {

template CompiledKernel find_kernel<__half, __nv_fp8_e5m2>(const Kernel&);

}  // namespace attnbench::mla
