// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/splitkv/warp_tile.cuh"

// How a block's tile of rows leaves: as output, or as a partial result that the tile's last block
// merges. Rows wait in shared memory.
namespace attnbench::splitkv {

/// Row length in shared memory: eight rows that a warp writes at once fall into different banks.
template <int kDv>
inline constexpr int kRowFloats = kDv + 8;

/// Rows of the largest tile.
inline constexpr int kMostRows = 64;

/// Merges results relative to their LSEs; base 2. Sinks join as a result without output.
struct LseMerge {
  float highest = -INFINITY;
  float sum = 0;

  __device__ __forceinline__ void add(float other_highest, float other_sum) {
    if (other_highest == -INFINITY) return;
    const float now = fmaxf(highest, other_highest);
    sum = sum * exp2f(highest - now) + other_sum * exp2f(other_highest - now);
    highest = now;
  }
  __device__ __forceinline__ void add(float lse) { add(lse, 1.0f); }
  [[nodiscard]] __device__ __forceinline__ float lse() const {
    return sum > 0 ? highest + log2f(sum) : -INFINITY;
  }
  /// Share of a result of LSE `part`.
  [[nodiscard]] __device__ __forceinline__ float weight(float part) const {
    return part == -INFINITY ? 0.0f : exp2f(part - highest) / sum;
  }
};

template <class S>
__device__ __forceinline__ void store_row_part(const SplitKvParams& p, const SplitKvItem& item,
                                               int row, int d, float4 value, float lse) {
  const int token = (item.row_begin + row) / p.group;
  const std::int64_t t = item.q_begin + token;
  const int head = item.kv_head * p.group + (item.row_begin + row) % p.group;
  using T = typename S::T;
  uint2 packed;
  packed.x = cuda::pack2<T>(value.x * p.v_scale, value.y * p.v_scale);
  packed.y = cuda::pack2<T>(value.z * p.v_scale, value.w * p.v_scale);
  *reinterpret_cast<uint2*>(p.out + t * p.out_token_stride + head * p.out_head_stride + 2 * d) =
      packed;
  if (d == 0) {
    *reinterpret_cast<float*>(p.lse + t * p.lse_token_stride + head * p.lse_head_stride) =
        lse * cuda::kLn2;
  }
}

__device__ __forceinline__ float4 operator*(float4 a, float b) {
  return {a.x * b, a.y * b, a.z * b, a.w * b};
}

__device__ __forceinline__ LseMerge with_sink(const SplitKvParams& p, const SplitKvItem& item,
                                              int row) {
  LseMerge merge;
  if (p.sinks != nullptr) {
    merge.add(p.sinks[item.kv_head * p.group + (item.row_begin + row) % p.group] * cuda::kLog2e);
  }
  return merge;
}

/// Called by every thread of the block. `rows` [tile rows, kRowFloats] holds normalised outputs,
/// `lse` [tile rows] their base-2 LSEs.
template <class S>
__device__ __forceinline__ void store_tile(const SplitKvParams& p, const SplitKvItem& item,
                                           const float* rows, const float* lse) {
  constexpr int kParts = S::kDv / 4;
  const int parts = item.rows * kParts;
  const auto thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int i = thread; i < parts; i += threads) {
    const int row = i / kParts, d = 4 * (i % kParts);
    const float4 value = *reinterpret_cast<const float4*>(rows + row * kRowFloats<S::kDv> + d);
    if (item.splits == 1) {
      LseMerge merge = with_sink(p, item, row);
      merge.add(lse[row]);
      store_row_part<S>(p, item, row, d, value * merge.weight(lse[row]), merge.lse());
    } else {
      const std::int64_t at = static_cast<std::int64_t>(item.partial) * p.partial_rows + row;
      *reinterpret_cast<float4*>(p.partial_out + at * S::kDv + d) = value;
      if (d == 0) p.partial_lse[at] = lse[row];
    }
  }
  if (item.splits <= 1) return;  // 0: another kernel merges

  // The block that finishes last merges all pieces, in their order: which block that is does not
  // show in the result.
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (thread == 0) last = atomicAdd(p.counters + item.tile, 1) == item.splits - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();

  // A warp reads the LSEs of a row's pieces side by side.
  __shared__ float2 merges[kMostRows];  // highest and sum
  const std::int64_t first = static_cast<std::int64_t>(item.first_partial) * p.partial_rows;
  for (int row = thread / 32; row < item.rows; row += threads / 32) {
    LseMerge merge;
    for (int split = thread % 32; split < item.splits; split += 32) {
      merge.add(__ldcg(p.partial_lse + first + split * p.partial_rows + row));
    }
#pragma unroll
    for (int other = 16; other > 0; other /= 2) {
      const float highest = __shfl_xor_sync(~0u, merge.highest, other);
      const float sum = __shfl_xor_sync(~0u, merge.sum, other);
      merge.add(highest, sum);
    }
    if (thread % 32 == 0) {
      const LseMerge sink = with_sink(p, item, row);
      merge.add(sink.highest, sink.sum);
      merges[row] = {merge.highest, merge.sum};
    }
  }
  __syncthreads();
  for (int i = thread; i < parts; i += threads) {
    const int row = i / kParts, d = 4 * (i % kParts);
    const LseMerge merge{merges[row].x, merges[row].y};
    float4 sum{0, 0, 0, 0};
#pragma unroll 16
    for (int split = 0; split < item.splits; ++split) {
      const std::int64_t at = first + split * p.partial_rows + row;
      const float weight = merge.weight(__ldcg(p.partial_lse + at));
      const float4 part = __ldcg(reinterpret_cast<const float4*>(p.partial_out + at * S::kDv + d));
      sum.x += weight * part.x;
      sum.y += weight * part.y;
      sum.z += weight * part.z;
      sum.w += weight * part.w;
    }
    store_row_part<S>(p, item, row, d, sum, merge.lse());
  }
  if (thread == 0) p.counters[item.tile] = 0;  // ready for the next launch
}

}  // namespace attnbench::splitkv
