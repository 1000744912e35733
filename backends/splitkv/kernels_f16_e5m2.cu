// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/splitkv/dispatch.cuh"

namespace attnbench::splitkv {

CompiledKernel f16_e5m2_kernel(const Kernel& kernel) {
  return find_kernel<__half, __nv_fp8_e5m2>(kernel);
}

}  // namespace attnbench::splitkv
