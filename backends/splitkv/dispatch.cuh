// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "backends/common/kernels_in_build.h"
#include "backends/splitkv/kernels.cuh"
#include "backends/splitkv/launch.h"

namespace attnbench::splitkv {

struct CompiledKernel {
  void (*function)(Params) = nullptr;  ///< null: there is none
  int shared_bytes = 0;
};

template <class S>
[[nodiscard]] CompiledKernel compiled(bool many_rows) {
  if (many_rows) {
    return {any_rows_kernel<S>, std::max(FewRows<S>::kSharedBytes, ManyRows<S>::kSharedBytes)};
  }
  return {few_rows_kernel<S>, FewRows<S>::kSharedBytes};
}

/// Head dims of one pair of types; one translation unit per pair, because compiling takes a while.
template <class T, class Kv>
[[nodiscard]] CompiledKernel find_kernel(const Kernel& kernel) {
  const int dk = kernel.head_dim_k, dv = kernel.head_dim_v;
  if (dk == 128 && dv == 128) return compiled<Shape<T, Kv, 128, 128>>(kernel.many_rows);
  if constexpr (kAllKernels) {
    if (dk == 64 && dv == 64) return compiled<Shape<T, Kv, 64, 64>>(kernel.many_rows);
    if (dk == 96 && dv == 96) return compiled<Shape<T, Kv, 96, 96>>(kernel.many_rows);
    if (dk == 192 && dv == 128) return compiled<Shape<T, Kv, 192, 128>>(kernel.many_rows);
    if (dk == 256 && dv == 256) return compiled<Shape<T, Kv, 256, 256>>(kernel.many_rows);
  }
  return {};
}

[[nodiscard]] CompiledKernel bf16_kernel(const Kernel& kernel);
[[nodiscard]] CompiledKernel bf16_e4m3_kernel(const Kernel& kernel);
[[nodiscard]] CompiledKernel bf16_e5m2_kernel(const Kernel& kernel);
[[nodiscard]] CompiledKernel f16_kernel(const Kernel& kernel);
[[nodiscard]] CompiledKernel f16_e4m3_kernel(const Kernel& kernel);
[[nodiscard]] CompiledKernel f16_e5m2_kernel(const Kernel& kernel);

}  // namespace attnbench::splitkv
