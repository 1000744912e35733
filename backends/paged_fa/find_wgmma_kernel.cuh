// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/kernel_choice.cuh"
#include "backends/paged_fa/dispatch.cuh"
#include "backends/paged_fa/wgmma_kernel.cuh"

namespace attnbench::paged_fa {

/// Columns are copied and multiplied 64 at a time.
template <class T>
HopperKernel find_hopper_kernel(const Kernel& kernel) {
  return cuda::for_head_dims(
      kernel.head_dim_k, kernel.head_dim_v, [&]<int kDk, int kDv>() -> HopperKernel {
        if constexpr (kDk % 64 == 0) {
          using Tiles = hopper::Tiles<kDk, kDv>;
          return {
              {hopper::wgmma_kernel<T, kDk, kDv>, hopper::kThreads, hopper::Shared<Tiles>::kBytes},
              Tiles::K::kWarpRows};
        }
        return {};
      });
}

}  // namespace attnbench::paged_fa
