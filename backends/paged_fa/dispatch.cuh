// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/compiled_kernel.cuh"
#include "backends/paged_fa/launch.h"
#include "backends/paged_fa/tensor_map.cuh"

namespace attnbench::paged_fa {

using CompiledKernel = cuda::CompiledKernel<Params>;

/// The kernel for tiles of 16 or 64 rows and one pair of types, if it is compiled for the head
/// dims. Instantiated in one translation unit per pair, because compiling takes a while.
template <class T, class Kv>
[[nodiscard]] CompiledKernel find_kernel(const Kernel& kernel);
/// Likewise for tiles of 64 rows of prompts with spans.
template <class T, class Kv>
[[nodiscard]] CompiledKernel find_span_kernel(const Kernel& kernel);
/// Likewise for tiles of 128 rows, whose cache has the type of the activations.
template <class T>
[[nodiscard]] CompiledKernel find_many_rows_kernel(const Kernel& kernel);

/// Tiles of 128 rows for a GPU with wgmma. Blocks take items until none is left.
struct HopperKernel : cuda::CompiledKernel<Params, PageMaps> {
  int box_rows = 0;  ///< most tokens of a copy
};
template <class T, bool kSpans>
[[nodiscard]] HopperKernel find_hopper_kernel(const Kernel& kernel);

}  // namespace attnbench::paged_fa
