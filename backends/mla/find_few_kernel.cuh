// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/mla/dispatch.cuh"
#include "backends/mla/few_kernel.cuh"

namespace attnbench::mla {

template <class T, class Kv>
CompiledKernel find_few_kernel() {
  return {few::few_kernel<T, Kv>, few::kThreads, few::Layout<Kv>::kSharedBytes};
}

}  // namespace attnbench::mla
