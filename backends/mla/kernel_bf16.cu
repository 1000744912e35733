// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/kernels_in_build.h"
#include "backends/mla/dispatch.cuh"

namespace attnbench::mla {

CompiledKernel bf16_kernel(const Kernel& kernel) {
  if (kernel.kv_dtype == DType::kBF16) return compiled<__nv_bfloat16, __nv_bfloat16>(kernel);
  if (kernel.kv_dtype == DType::kE4M3) return compiled<__nv_bfloat16, __nv_fp8_e4m3>(kernel);
  if constexpr (kAllKernels) {
    if (kernel.kv_dtype == DType::kE5M2) return compiled<__nv_bfloat16, __nv_fp8_e5m2>(kernel);
  }
  return {};
}

}  // namespace attnbench::mla
