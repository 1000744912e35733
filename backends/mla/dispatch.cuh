// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/compiled_kernel.cuh"
#include "backends/mla/params.h"

namespace attnbench::mla {

using CompiledKernel = cuda::CompiledKernel<Params>;

/// The kernel with mma.sync for one pair of types. Instantiated in one translation unit per pair,
/// because compiling takes a while.
template <class T, class Kv>
[[nodiscard]] CompiledKernel find_kernel(const Kernel& kernel);

/// With wgmma; Kv can be ScaledBlocks.
template <class T, class Kv>
[[nodiscard]] CompiledKernel find_warpgroup_kernel(const Kernel& kernel);

/// For TileKind::kFewFp8; Kv can be ScaledBlocks.
template <class T, class Kv>
[[nodiscard]] CompiledKernel find_fp8_kernel();

/// Merges what any of them split: a grid of (merges, rows of each, blocks_per_row).
struct MergeKernel {
  CompiledKernel kernel;
  int blocks_per_row = 1;
  bool takes_rows_in_turn = false;  ///< so that there may be fewer blocks than rows
};
/// The kernel for this many rows in all. The choice does not change the result.
[[nodiscard]] MergeKernel merge_kernel_for(DType dtype, std::int64_t rows);

}  // namespace attnbench::mla
