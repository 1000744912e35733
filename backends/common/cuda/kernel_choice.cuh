// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "backends/common/kernel_support.h"
#include "lib/base/dtype.h"

// From what a problem says to the template arguments that kernels of this build are compiled with.
namespace attnbench::cuda {

/// find<T, Kv>(), T the type of the activations and Kv of the cache; a default result where no
/// kernel is compiled for them.
template <class Find>
[[nodiscard]] auto for_types(DType dtype, DType kv_dtype, const Find& find)
    -> decltype(find.template operator()<__nv_bfloat16, __nv_bfloat16>()) {
  if (dtype == DType::kBF16) {
    if (kv_dtype == DType::kBF16) return find.template operator()<__nv_bfloat16, __nv_bfloat16>();
    if (kv_dtype == DType::kE4M3) return find.template operator()<__nv_bfloat16, __nv_fp8_e4m3>();
  }
  if constexpr (kAllKernels) {
    if (dtype == DType::kBF16 && kv_dtype == DType::kE5M2) {
      return find.template operator()<__nv_bfloat16, __nv_fp8_e5m2>();
    }
    if (dtype == DType::kF16) {
      if (kv_dtype == DType::kF16) return find.template operator()<__half, __half>();
      if (kv_dtype == DType::kE4M3) return find.template operator()<__half, __nv_fp8_e4m3>();
      if (kv_dtype == DType::kE5M2) return find.template operator()<__half, __nv_fp8_e5m2>();
    }
  }
  return {};
}

/// find<dk, dv>(), likewise, for K and V with heads of their own.
template <class Find>
[[nodiscard]] auto for_head_dims(int dk, int dv, const Find& find)
    -> decltype(find.template operator()<128, 128>()) {
  if (dk == 128 && dv == 128) return find.template operator()<128, 128>();
  if constexpr (kAllKernels) {
    if (dk == 64 && dv == 64) return find.template operator()<64, 64>();
    if (dk == 96 && dv == 96) return find.template operator()<96, 96>();
    if (dk == 192 && dv == 128) return find.template operator()<192, 128>();
    if (dk == 256 && dv == 256) return find.template operator()<256, 256>();
  }
  return {};
}

}  // namespace attnbench::cuda
