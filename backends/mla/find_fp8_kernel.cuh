// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/mla/dispatch.cuh"
#include "backends/mla/fp8_kernel.cuh"

namespace attnbench::mla {

template <class T, class Kv>
CompiledKernel find_fp8_kernel() {
  return {fp8::fp8_kernel<T, Kv>, fp8::kThreads, fp8::Layout<Kv>::kSharedBytes};
}

}  // namespace attnbench::mla
