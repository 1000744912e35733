// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "backends/common/cuda/kv_write.cuh"
#include "lib/device/cuda/check.cuh"

namespace attnbench {
namespace {

constexpr int kThreads = 256;

/// Elements of a row that a thread converts at a time; engines' head dims are multiples of it.
constexpr int kRun = 4;

/// Elements d to d + 3 as f32; `row` is 8-byte aligned, d a multiple of 4.
__device__ float4 widened(DType dtype, const std::byte* row, int d) {
  if (dtype == DType::kF32) return *reinterpret_cast<const float4*>(row + d * 4);
  const uint2 bits = *reinterpret_cast<const uint2*>(row + d * 2);
  float2 low, high;
  if (dtype == DType::kF16) {
    low = __half22float2(reinterpret_cast<const __half2&>(bits.x));
    high = __half22float2(reinterpret_cast<const __half2&>(bits.y));
  } else {
    low = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162&>(bits.x));
    high = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162&>(bits.y));
  }
  return {low.x, low.y, high.x, high.y};
}

/// Rounds to nearest even, and to the largest finite number of an fp8 type.
__device__ void narrow_to(DType dtype, std::byte* row, int d, float4 values) {
  if (size_bytes(dtype) == 1) {
    const auto type = dtype == DType::kE4M3 ? __NV_E4M3 : __NV_E5M2;
    const auto pair = [&](float x, float y) -> unsigned {
      return __nv_cvt_float2_to_fp8x2({x, y}, __NV_SATFINITE, type);
    };
    *reinterpret_cast<unsigned*>(row + d) = pair(values.x, values.y) | pair(values.z, values.w)
                                                                           << 16;
  } else if (dtype == DType::kF32) {
    *reinterpret_cast<float4*>(row + d * 4) = values;
  } else if (dtype == DType::kF16) {
    auto* const to = reinterpret_cast<__half2*>(row + d * 2);
    to[0] = __floats2half2_rn(values.x, values.y);
    to[1] = __floats2half2_rn(values.z, values.w);
  } else {
    auto* const to = reinterpret_cast<__nv_bfloat162*>(row + d * 2);
    to[0] = __floats2bfloat162_rn(values.x, values.y);
    to[1] = __floats2bfloat162_rn(values.z, values.w);
  }
}

/// All heads of one token's K, or V. Rows that need no conversion are copied in 16-byte words,
/// which head dims of engines are multiples of.
__device__ void write_rows(const ConstTensorView& from, const KvPool& pool, std::int64_t token,
                           std::int64_t slot, bool is_value, float scale) {
  const int heads = static_cast<int>(from.shape[1]), dim = static_cast<int>(from.shape[2]);
  const auto to_row = [&](int head) {
    return is_value ? pool.v_row(slot, head) : pool.k_row(slot, head);
  };
  if (from.dtype == pool.dtype && scale == 1.0f && dim * size_bytes(from.dtype) % 16 == 0) {
    const int words = dim * static_cast<int>(size_bytes(from.dtype)) / 16;
    for (int i = static_cast<int>(threadIdx.x); i < heads * words; i += kThreads) {
      const int head = i / words, word = i % words;
      reinterpret_cast<uint4*>(to_row(head))[word] =
          reinterpret_cast<const uint4*>(from.row(token, head))[word];
    }
    return;
  }
  const int runs = dim / kRun;
  for (int i = static_cast<int>(threadIdx.x); i < heads * runs; i += kThreads) {
    const int head = i / runs, d = i % runs * kRun;
    const float4 values = widened(from.dtype, from.row(token, head), d);
    narrow_to(pool.dtype, to_row(head), d,
              {values.x / scale, values.y / scale, values.z / scale, values.w / scale});
  }
}

/// A block for each token.
__global__ void __launch_bounds__(kThreads) kv_write(const __grid_constant__ KvWriteParams p) {
  const std::int64_t token = blockIdx.x;
  const std::int64_t slot = p.slots[token];
  write_rows(p.k_new, p.pool, token, slot, false, p.pool.k_scale);
  if (p.has_value_rows) write_rows(p.v_new, p.pool, token, slot, true, p.pool.v_scale);
}

}  // namespace

void launch_kv_write(const KvWriteParams& params, void* stream) {
  if (params.tokens == 0) return;
  kv_write<<<static_cast<unsigned>(params.tokens), kThreads, 0,
             static_cast<cudaStream_t>(stream)>>>(params);
  check_launch("kv_write");
}

}  // namespace attnbench
