// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "backends/common/cuda/kernel_choice.cuh"
#include "backends/splitkv/dispatch.cuh"
#include "backends/splitkv/kernels.cuh"

namespace attnbench::splitkv {

template <class S>
[[nodiscard]] CompiledKernel compiled(bool many_rows) {
  if (many_rows) {
    return {any_rows_kernel<S>, kThreads,
            std::max(FewRows<S>::kSharedBytes, ManyRows<S>::kSharedBytes)};
  }
  return {few_rows_kernel<S>, kThreads, FewRows<S>::kSharedBytes};
}

template <class T, class Kv>
CompiledKernel find_kernel(const Kernel& kernel) {
  return cuda::for_head_dims(kernel.head_dim_k, kernel.head_dim_v, [&]<int kDk, int kDv>() {
    return compiled<Shape<T, Kv, kDk, kDv>>(kernel.many_rows);
  });
}

}  // namespace attnbench::splitkv
