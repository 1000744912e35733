// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "backends/common/cuda/kv_convert.cuh"
#include "backends/common/cuda/output_rows.cuh"
#include "backends/common/cuda/pack_fp8.cuh"

namespace attnbench::cuda {

/// Values d, d + 1 of an output row, which is of fp8 or of type T, the activations'. d is even.
template <class T>
__device__ __forceinline__ void store_out(const OutputParams& p, const RowPlace& place, int d,
                                          float2 values) {
  std::byte* const row = out_row(p, place);
  if (size_bytes(p.out_dtype) == 1) {
    *reinterpret_cast<unsigned short*>(row + d) =
        static_cast<unsigned short>(pack_fp8(p.out_dtype, values));
  } else {
    *reinterpret_cast<unsigned*>(row + 2 * d) = pack2<T>(values.x, values.y);
  }
}
/// Values d … d + 3. d is a multiple of 4.
template <class T>
__device__ __forceinline__ void store_out(const OutputParams& p, const RowPlace& place, int d,
                                          float4 values) {
  std::byte* const row = out_row(p, place);
  if (size_bytes(p.out_dtype) == 1) {
    *reinterpret_cast<unsigned*>(row + d) = pack_fp8(p.out_dtype, values);
  } else {
    *reinterpret_cast<uint2*>(row + 2 * d) =
        uint2{pack2<T>(values.x, values.y), pack2<T>(values.z, values.w)};
  }
}

}  // namespace attnbench::cuda
