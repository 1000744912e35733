// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "backends/common/cuda/kernel_choice.cuh"
#include "backends/paged_fa/dispatch.cuh"
#include "backends/paged_fa/mma_kernel.cuh"

namespace attnbench::paged_fa {

template <class S, TileKind kTile>
[[nodiscard]] CompiledKernel compiled() {
  using Config = MmaConfig<S, kTile>;
  return {mma_kernel<Config>, kThreads, Config::kSharedBytes};
}

/// find<dk, dv>() for what kernels are compiled with, beside cuda::for_head_dims() the dim that 72
/// is padded to; their rows have the type of the activations.
template <class T, class Kv, class Find>
CompiledKernel for_padded_dims(const Kernel& kernel, const Find& find) {
  if constexpr (kAllKernels && std::is_same_v<T, Kv>) {
    constexpr int kDim = cuda::kPaddedDim;
    if (kernel.head_dim_k == kernel.head_dim_v && padded_head_dim(kernel.head_dim_v) == kDim) {
      return find.template operator()<kDim, kDim>();
    }
  }
  return cuda::for_head_dims(kernel.head_dim_k, kernel.head_dim_v, find);
}

template <class T, class Kv>
CompiledKernel find_kernel(const Kernel& kernel) {
  return for_padded_dims<T, Kv>(kernel, [&]<int kDk, int kDv>() -> CompiledKernel {
    using S = Shape<T, Kv, kDk, kDv>;
    if (kernel.tile == TileKind::kFew) return compiled<S, TileKind::kFew>();
    if (kernel.tile == TileKind::kSome) return compiled<S, TileKind::kSome>();
    return {};
  });
}

/// Tiles of 128 rows need registers that a 256 wide output leaves none of.
template <class T>
CompiledKernel find_many_rows_kernel(const Kernel& kernel) {
  return for_padded_dims<T, T>(kernel, [&]<int kDk, int kDv>() -> CompiledKernel {
    if constexpr (kDv <= 128) return compiled<Shape<T, T, kDk, kDv>, TileKind::kMany>();
    return {};
  });
}

}  // namespace attnbench::paged_fa
