// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/paged_fa/mma_dispatch.cuh"

namespace attnbench::paged_fa {

CompiledKernel bf16_e5m2_kernel(const Kernel& kernel) {
  return find_kernel<__nv_bfloat16, __nv_fp8_e5m2>(kernel);
}

}  // namespace attnbench::paged_fa
