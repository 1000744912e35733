// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/mla/kernel.cuh"

namespace attnbench::mla {

struct CompiledKernel {
  void (*function)(Params) = nullptr;
  int threads = 0;
  int shared_bytes = 0;
};

template <class T, class Kv>
[[nodiscard]] CompiledKernel compiled(const Kernel& kernel) {
  using Few = FewRows<T, Kv>;
  using Many = ManyRows<T, Kv>;
  if (kernel.tile == TileKind::kMany) return {mla_kernel<Many>, Many::kThreads, Many::kSharedBytes};
  return {mla_kernel<Few>, Few::kThreads, Few::kSharedBytes};
}

/// `kv_dtype` is T itself, e4m3 or e5m2; null where this build has no such kernel. One translation
/// unit each: compiling takes a while.
[[nodiscard]] CompiledKernel bf16_kernel(const Kernel& kernel);
[[nodiscard]] CompiledKernel f16_kernel(const Kernel& kernel);

/// With wgmma.
[[nodiscard]] CompiledKernel warpgroup_kernel(DType dtype);

/// Merges what any of them split: a grid of (merges, rows of each, blocks_per_row).
struct MergeKernel {
  CompiledKernel kernel;
  int blocks_per_row = 1;
};
/// The kernel for this many rows in all. The choice does not change the result.
[[nodiscard]] MergeKernel merge_kernel_for(DType dtype, std::int64_t rows);

}  // namespace attnbench::mla
