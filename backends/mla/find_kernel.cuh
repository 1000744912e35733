// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/mla/dispatch.cuh"
#include "backends/mla/kernel.cuh"

namespace attnbench::mla {

template <class T, class Kv>
CompiledKernel find_kernel(const Kernel& kernel) {
  using Few = FewRows<T, Kv>;
  using Many = ManyRows<T, Kv>;
  if (kernel.tile == TileKind::kMany) return {mla_kernel<Many>, Many::kThreads, Many::kSharedBytes};
  return {mla_kernel<Few>, Few::kThreads, Few::kSharedBytes};
}

}  // namespace attnbench::mla
