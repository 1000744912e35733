// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "backends/common/cuda/kv_write.cuh"
#include "lib/device/cuda/check.cuh"

namespace attnbench {
namespace {

constexpr int kThreads = 128;

/// The element as f32.
__device__ float widened(DType dtype, const std::byte* row, int d) {
  switch (dtype) {
    case DType::kF16:
      return __half2float(reinterpret_cast<const __half*>(row)[d]);
    case DType::kBF16:
      return __bfloat162float(reinterpret_cast<const __nv_bfloat16*>(row)[d]);
    default:
      return reinterpret_cast<const float*>(row)[d];
  }
}

__device__ void narrow_to(DType dtype, std::byte* row, int d, float value) {
  switch (dtype) {
    case DType::kF32:
      reinterpret_cast<float*>(row)[d] = value;
      return;
    case DType::kF16:
      reinterpret_cast<__half*>(row)[d] = __float2half_rn(value);
      return;
    case DType::kBF16:
      reinterpret_cast<__nv_bfloat16*>(row)[d] = __float2bfloat16_rn(value);
      return;
    case DType::kE4M3:
      reinterpret_cast<__nv_fp8_storage_t*>(row)[d] =
          __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
      return;
    case DType::kE5M2:
      reinterpret_cast<__nv_fp8_storage_t*>(row)[d] =
          __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E5M2);
      return;
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
  for (int i = static_cast<int>(threadIdx.x); i < heads * dim; i += kThreads) {
    const int head = i / dim, d = i % dim;
    narrow_to(pool.dtype, to_row(head), d, widened(from.dtype, from.row(token, head), d) / scale);
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
