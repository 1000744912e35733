// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/paged_fa/mma_dispatch.cuh"

namespace attnbench::paged_fa {

CompiledKernel bf16_many_rows_kernel(const Kernel& kernel) {
  return find_many_rows_kernel<__nv_bfloat16>(kernel);
}

}  // namespace attnbench::paged_fa
