// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/mla/dispatch.cuh"
#include "backends/mla/wgmma_kernel.cuh"

namespace attnbench::mla {

template <class T, class Kv>
CompiledKernel find_warpgroup_kernel(const Kernel& kernel) {
  return {kernel.fp8_out ? hopper::wgmma_kernel<T, Kv, false, true>
          : kernel.plain ? hopper::wgmma_kernel<T, Kv, true, false>
                         : hopper::wgmma_kernel<T, Kv, false, false>,
          hopper::kThreads, hopper::Shared::kBytes};
}

}  // namespace attnbench::mla
