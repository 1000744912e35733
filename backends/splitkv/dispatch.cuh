// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/compiled_kernel.cuh"
#include "backends/splitkv/launch.h"

namespace attnbench::splitkv {

using CompiledKernel = cuda::CompiledKernel<Params>;

/// The kernel for one pair of types, if it is compiled for the head dims. Instantiated in one
/// translation unit per pair, because compiling takes a while.
template <class T, class Kv>
[[nodiscard]] CompiledKernel find_kernel(const Kernel& kernel);

}  // namespace attnbench::splitkv
