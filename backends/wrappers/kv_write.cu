// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "backends/common/cuda/pack_fp8.cuh"
#include "backends/wrappers/kv_write.cuh"
#include "lib/device/cuda/check.cuh"

namespace attnbench {
namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;

/// Elements of a row that a thread converts at a time; engines' head dims are multiples of it.
constexpr int kRun = 4;

/// Elements d to d + 3 as f32; `row` is 8-byte aligned, d a multiple of 4.
__device__ __forceinline__ float4 widened(DType dtype, const std::byte* row, int d) {
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

/// Rounds to nearest even, and to the largest finite number of an fp8 type; `to` is aligned for
/// four elements in a word, or two of two words.
__device__ __forceinline__ void narrow_to(DType dtype, std::byte* to, float4 values) {
  if (size_bytes(dtype) == 1) {
    *reinterpret_cast<unsigned*>(to) = cuda::pack_fp8(dtype, values);
  } else if (dtype == DType::kF32) {
    *reinterpret_cast<float4*>(to) = values;
  } else if (dtype == DType::kF16) {
    auto* const pairs = reinterpret_cast<__half2*>(to);
    pairs[0] = __floats2half2_rn(values.x, values.y);
    pairs[1] = __floats2half2_rn(values.z, values.w);
  } else {
    auto* const pairs = reinterpret_cast<__nv_bfloat162*>(to);
    pairs[0] = __floats2bfloat162_rn(values.x, values.y);
    pairs[1] = __floats2bfloat162_rn(values.z, values.w);
  }
}

/// One of four elements in storage bits.
__device__ __forceinline__ void store_one(DType dtype, std::byte* to, const std::byte* four,
                                          int i) {
  switch (size_bytes(dtype)) {
    case 4:
      *reinterpret_cast<unsigned*>(to) = reinterpret_cast<const unsigned*>(four)[i];
      return;
    case 2:
      *reinterpret_cast<std::uint16_t*>(to) = reinterpret_cast<const std::uint16_t*>(four)[i];
      return;
    default:
      *to = four[i];
  }
}

/// A row of the cache that is written to. `packed`: its elements are not all neighbours of one
/// type.
template <bool packed>
struct ToRow {
  const KvPool* pool;
  bool is_value;
  std::byte* row;

  __device__ ToRow(const KvPool& cache, bool value, std::int64_t slot, int head)
      : pool(&cache),
        is_value(value),
        row(value ? cache.v_row(slot, head) : cache.k_row(slot, head)) {}

  __device__ std::byte* element(int d) const {
    if constexpr (!packed) return row + d * size_bytes(pool->dtype);
    return is_value ? pool->v_element(row, d) : pool->k_element(row, d);
  }

  /// Elements d to d + 3, d a multiple of 4: neighbours in all rows but those of packed values.
  __device__ void put(int d, float4 values) const {
    const DType dtype = packed ? pool->element_dtype(d) : pool->dtype;
    if (!packed || !is_value || pool->run_bits_v != 0) return narrow_to(dtype, element(d), values);
    uint4 words;  // as aligned as narrow_to() asks for
    auto* const four = reinterpret_cast<std::byte*>(&words);
    narrow_to(dtype, four, values);
    for (int i = 0; i < kRun; ++i) store_one(dtype, element(d + i), four, i);
  }
};

__device__ float4 quotients(float4 values, float scale) {
  return {values.x / scale, values.y / scale, values.z / scale, values.w / scale};
}

/// A word of 16 bytes, which head dims of engines are multiples of.
using Word = uint4;

/// The rows of one token that are copied: all heads of its K, or of its V.
struct CopiedRows {
  const Word* from;
  Word* to;
  std::int64_t from_head, to_head;  ///< words from one head to the next
  int words;                        ///< of a row
};

__device__ __forceinline__ CopiedRows copied_rows(const ConstTensorView& from, std::byte* to,
                                                  std::int64_t head_stride, std::int64_t token) {
  const std::int64_t bytes = size_bytes(from.dtype), word = sizeof(Word);
  return {reinterpret_cast<const Word*>(from.row(token, 0)), reinterpret_cast<Word*>(to),
          from.stride[1] * bytes / word, head_stride * bytes / word,
          static_cast<int>(from.shape[2] * bytes / word)};
}

/// A block for each token. Words of K and V are spread over all threads at once: the reads of V
/// must not wait for those of K. A kernel of its own: beside the conversions it would have their
/// registers and their spills.
__global__ void __launch_bounds__(kThreads) kv_copy(const __grid_constant__ KvWriteParams p) {
  const std::int64_t token = blockIdx.x;
  const std::int64_t slot = p.slots[token];
  const int heads = static_cast<int>(p.k_new.shape[1]);
  const CopiedRows k = copied_rows(p.k_new, p.pool.k_row(slot, 0), p.pool.head_stride_k, token);
  CopiedRows v{};
  if (p.has_value_rows) {
    v = copied_rows(p.v_new, p.pool.v_row(slot, 0), p.pool.head_stride_v, token);
  }
  for (int i = static_cast<int>(threadIdx.x); i < heads * (k.words + v.words); i += kThreads) {
    const bool is_value = i >= heads * k.words;
    const CopiedRows& rows = is_value ? v : k;
    const int place = is_value ? i - heads * k.words : i;
    const int head = place / rows.words, word = place % rows.words;
    rows.to[head * rows.to_head + word] = rows.from[head * rows.from_head + word];
  }
}

/// Whether the rows of K, or V, are copied as they are.
bool are_copied(const ConstTensorView& from, const KvPool& pool, float scale) {
  return from.dtype == pool.dtype && scale == 1.0f && pool.scales == KvScales::kTensor &&
         from.shape[2] * size_bytes(from.dtype) % static_cast<std::int64_t>(sizeof(Word)) == 0;
}

/// All heads of one token's K, or V, by scales that are given.
template <bool packed>
__device__ __forceinline__ void write_rows(const ConstTensorView& from, const KvPool& pool,
                                           std::int64_t token, std::int64_t request,
                                           std::int64_t slot, bool is_value) {
  const int heads = static_cast<int>(from.shape[1]);
  const int runs = static_cast<int>(from.shape[2]) / kRun;
  for (int i = static_cast<int>(threadIdx.x); i < heads * runs; i += kThreads) {
    const int head = i / runs, d = i % runs * kRun;
    const float scale =
        is_value ? pool.shared_v_scale(request, head) : pool.shared_k_scale(request, head);
    const float4 values = widened(from.dtype, from.row(token, head), d);
    ToRow<packed>(pool, is_value, slot, head).put(d, quotients(values, scale));
  }
}

/// A block for each token.
template <bool packed>
__global__ void __launch_bounds__(kThreads) kv_write(const __grid_constant__ KvWriteParams p) {
  const std::int64_t token = blockIdx.x;
  const std::int64_t slot = p.slots[token];
  const std::int64_t request = p.pool.scales == KvScales::kRequest ? p.requests.of(token) : 0;
  write_rows<packed>(p.k_new, p.pool, token, request, slot, false);
  if (p.has_value_rows) write_rows<packed>(p.v_new, p.pool, token, request, slot, true);
}

/// Dims [begin, end) of a row, which share the scale that is stored at `scale`; null: it is 1.
struct ScaledPart {
  int begin, end;
  float* scale;
};

__device__ ScaledPart part_of(const KvPool& pool, std::int64_t slot, int head, bool is_value,
                              int part) {
  if (pool.scales == KvScales::kToken) {
    return {0, is_value ? pool.head_dim_v : pool.head_dim_k,
            (is_value ? pool.v_scales : pool.k_scales) + slot * pool.heads_kv + head};
  }
  const int begin = part * pool.blocks.block;
  if (begin == pool.blocks.scaled) return {begin, pool.head_dim_k, nullptr};
  return {begin, begin + pool.blocks.block, reinterpret_cast<float*>(pool.block_scale(slot, part))};
}

/// By one warp: finds the largest number, stores the scale, then the quotients.
__device__ void write_part(const ConstTensorView& from, const ToRow<true>& to,
                           const ScaledPart& part, std::int64_t token, int head) {
  const std::byte* const row = from.row(token, head);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  float scale = 1;
  if (part.scale != nullptr) {
    float amax = 0;
    for (int d = part.begin + lane * kRun; d < part.end; d += kWarp * kRun) {
      const float4 v = widened(from.dtype, row, d);
      amax = fmaxf(fmaxf(amax, fmaxf(fabsf(v.x), fabsf(v.y))), fmaxf(fabsf(v.z), fabsf(v.w)));
    }
    for (int step = kWarp / 2; step > 0; step /= 2) {
      amax = fmaxf(amax, __shfl_xor_sync(0xffffffffu, amax, step));
    }
    scale = written_scale(to.pool->dtype, to.pool->scales, amax);
    if (lane == 0) *part.scale = scale;
  }
  for (int d = part.begin + lane * kRun; d < part.end; d += kWarp * kRun) {
    to.put(d, quotients(widened(from.dtype, row, d), scale));
  }
}

/// A block for each token, a warp for each part of its rows that has a scale.
__global__ void __launch_bounds__(kThreads)
    kv_write_with_scales(const __grid_constant__ KvWriteParams p) {
  const std::int64_t token = blockIdx.x;
  const std::int64_t slot = p.slots[token];
  const int heads = p.pool.heads_kv;
  const int parts = p.pool.blocks.scales() + 1;  // of one scale, or behind those of blocks
  const int rows = p.has_value_rows ? 2 * heads : heads;
  for (int i = static_cast<int>(threadIdx.x) / kWarp; i < rows * parts; i += kThreads / kWarp) {
    const int row = i / parts, head = row % heads;
    const bool is_value = row >= heads;
    const ToRow<true> to(p.pool, is_value, slot, head);
    write_part(is_value ? p.v_new : p.k_new, to, part_of(p.pool, slot, head, is_value, i % parts),
               token, head);
  }
}

}  // namespace

void launch_kv_write(const KvWriteParams& params, void* stream) {
  if (params.tokens == 0) return;
  const auto tokens = static_cast<unsigned>(params.tokens);
  auto* const on = static_cast<cudaStream_t>(stream);
  const KvScales scales = params.pool.scales;
  if (scales == KvScales::kToken || are_of_blocks(scales)) {
    kv_write_with_scales<<<tokens, kThreads, 0, on>>>(params);
  } else if (!params.pool.has_plain_rows()) {
    kv_write<true><<<tokens, kThreads, 0, on>>>(params);
  } else if (are_copied(params.k_new, params.pool, params.pool.k_scale) &&
             (!params.has_value_rows ||
              are_copied(params.v_new, params.pool, params.pool.v_scale))) {
    kv_copy<<<tokens, kThreads, 0, on>>>(params);
  } else {
    kv_write<false><<<tokens, kThreads, 0, on>>>(params);
  }
  check_launch("kv_write");
}

}  // namespace attnbench
