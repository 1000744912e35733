// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_fp8.h>

#include "lib/base/dtype.h"

namespace attnbench::cuda {

/// Four elements of an fp8 type in a word, rounded to nearest even, and to the largest finite
/// number where they are beyond.
__device__ __forceinline__ unsigned pack_fp8(DType dtype, float4 values) {
  const auto type = dtype == DType::kE4M3 ? __NV_E4M3 : __NV_E5M2;
  const auto pair = [&](float x, float y) -> unsigned {
    return __nv_cvt_float2_to_fp8x2({x, y}, __NV_SATFINITE, type);
  };
  return pair(values.x, values.y) | pair(values.z, values.w) << 16;
}

}  // namespace attnbench::cuda
