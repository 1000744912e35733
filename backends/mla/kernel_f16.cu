// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/mla/dispatch.cuh"

namespace attnbench::mla {

CompiledKernel f16_kernel(const Kernel& kernel) {
  if (kernel.kv_dtype == DType::kE4M3) return compiled<__half, __nv_fp8_e4m3>(kernel);
  if (kernel.kv_dtype == DType::kE5M2) return compiled<__half, __nv_fp8_e5m2>(kernel);
  return compiled<__half, __half>(kernel);
}

}  // namespace attnbench::mla
