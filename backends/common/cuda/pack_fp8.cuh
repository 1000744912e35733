// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_fp8.h>

#include "lib/base/dtype.h"

namespace attnbench::cuda {

/// Two elements of an fp8 type in 16 bits, rounded to nearest even, and to the largest finite
/// number where they are beyond.
__device__ __forceinline__ unsigned pack_fp8(DType dtype, float2 values) {
  return __nv_cvt_float2_to_fp8x2(values, __NV_SATFINITE,
                                  dtype == DType::kE4M3 ? __NV_E4M3 : __NV_E5M2);
}
/// Four in a word.
__device__ __forceinline__ unsigned pack_fp8(DType dtype, float4 values) {
  return pack_fp8(dtype, float2{values.x, values.y}) | pack_fp8(dtype, float2{values.z, values.w})
                                                           << 16;
}

}  // namespace attnbench::cuda
