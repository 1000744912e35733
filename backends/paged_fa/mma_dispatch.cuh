// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/kernels_in_build.h"
#include "backends/paged_fa/dispatch.cuh"
#include "backends/paged_fa/mma_kernel.cuh"

namespace attnbench::paged_fa {

template <class S, TileKind kTile>
[[nodiscard]] CompiledKernel compiled() {
  using Config = MmaConfig<S, kTile>;
  return {mma_kernel<Config>, kThreads, Config::kSharedBytes};
}

template <class S>
[[nodiscard]] CompiledKernel compiled(TileKind tile) {
  if (tile == TileKind::kFew) return compiled<S, TileKind::kFew>();
  if (tile == TileKind::kSome) return compiled<S, TileKind::kSome>();
  return {};
}

/// Head dims of one pair of types.
template <class T, class Kv>
[[nodiscard]] CompiledKernel find_kernel(const Kernel& kernel) {
  const int dk = kernel.head_dim_k, dv = kernel.head_dim_v;
  if (dk == 128 && dv == 128) return compiled<Shape<T, Kv, 128, 128>>(kernel.tile);
  if constexpr (kAllKernels) {
    if (dk == 64 && dv == 64) return compiled<Shape<T, Kv, 64, 64>>(kernel.tile);
    if (dk == 96 && dv == 96) return compiled<Shape<T, Kv, 96, 96>>(kernel.tile);
    if (dk == 192 && dv == 128) return compiled<Shape<T, Kv, 192, 128>>(kernel.tile);
    if (dk == 256 && dv == 256) return compiled<Shape<T, Kv, 256, 256>>(kernel.tile);
  }
  return {};
}

/// Tiles of 128 rows need registers that a 256 wide output leaves none of.
template <class T>
[[nodiscard]] CompiledKernel find_many_rows_kernel(const Kernel& kernel) {
  const int dk = kernel.head_dim_k, dv = kernel.head_dim_v;
  constexpr TileKind kMany = TileKind::kMany;
  if (dk == 128 && dv == 128) return compiled<Shape<T, T, 128, 128>, kMany>();
  if constexpr (kAllKernels) {
    if (dk == 64 && dv == 64) return compiled<Shape<T, T, 64, 64>, kMany>();
    if (dk == 96 && dv == 96) return compiled<Shape<T, T, 96, 96>, kMany>();
    if (dk == 192 && dv == 128) return compiled<Shape<T, T, 192, 128>, kMany>();
  }
  return {};
}

}  // namespace attnbench::paged_fa
