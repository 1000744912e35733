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
  /// Share of a result of LSE `part`, times the sum.
  [[nodiscard]] __device__ __forceinline__ float unscaled_weight(float part) const {
    return part == -INFINITY ? 0.0f : exp2f(part - highest);
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

// What the block that merges a tile does. Most of the GPU is idle by then, so what counts is how
// many loads are on their way at a time: one after another they take longer than the pieces did.
// Loops are unrolled no further than that, because code that is not in a cache yet costs as much as
// data.

/// LSEs of all rows, the sinks' included, into `merges` [tile rows]. `lanes` neighbouring threads
/// share a row, so that all rows are read at once.
__device__ __forceinline__ void merge_lses(const SplitKvParams& p, const SplitKvItem& item,
                                           float2* merges) {
  constexpr int kLoads = 4;
  const auto thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  int lanes = 32;
  while (lanes * item.rows > threads) lanes /= 2;
  const int row = thread / lanes, lane = thread % lanes;
  const int splits = row < item.rows ? item.splits : 0;
  const float* const lses =
      p.partial_lse + static_cast<std::int64_t>(item.first_partial) * p.partial_rows + row;
  LseMerge merge;
  for (int first = lane; first < splits; first += kLoads * lanes) {
    float lse[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int split = first + i * lanes;
      lse[i] = split < splits ? __ldcg(lses + split * p.partial_rows) : -INFINITY;
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) merge.add(lse[i]);
  }
  for (int other = lanes / 2; other > 0; other /= 2) {
    const float highest = __shfl_xor_sync(~0u, merge.highest, other);
    const float sum = __shfl_xor_sync(~0u, merge.sum, other);
    merge.add(highest, sum);
  }
  if (lane > 0 || row >= item.rows) return;
  const LseMerge sink = with_sink(p, item, row);
  merge.add(sink.highest, sink.sum);
  merges[row] = {merge.highest, merge.sum};
}

/// Outputs of all rows. A thread has kTogether fours of columns at a time, and loads them from
/// kSplits pieces at once.
template <class S>
__device__ __forceinline__ void merge_outputs(const SplitKvParams& p, const SplitKvItem& item,
                                              const float2* merges) {
  constexpr int kTogether = 2, kSplits = 4;
  constexpr int kParts = S::kDv / 4;
  const auto thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int parts = item.rows * kParts;
  const std::int64_t first = static_cast<std::int64_t>(item.first_partial) * p.partial_rows;
  for (int begin = thread; begin < parts; begin += kTogether * threads) {
    float4 sum[kTogether] = {};
    for (int split = 0; split < item.splits; split += kSplits) {
      float4 out[kTogether][kSplits];
      float lse[kTogether][kSplits];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const int part = begin + i * threads;
#pragma unroll
        for (int j = 0; j < kSplits; ++j) {
          lse[i][j] = -INFINITY;
          out[i][j] = {0, 0, 0, 0};
          if (part >= parts || split + j >= item.splits) continue;
          const std::int64_t at = first + (split + j) * p.partial_rows + part / kParts;
          lse[i][j] = __ldcg(p.partial_lse + at);
          out[i][j] = __ldcg(
              reinterpret_cast<const float4*>(p.partial_out + at * S::kDv + 4 * (part % kParts)));
        }
      }
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const float2 state = merges[min((begin + i * threads) / kParts, item.rows - 1)];
        const LseMerge merge{state.x, state.y};
#pragma unroll
        for (int j = 0; j < kSplits; ++j) {
          const float weight = merge.unscaled_weight(lse[i][j]);
          sum[i].x += weight * out[i][j].x;
          sum[i].y += weight * out[i][j].y;
          sum[i].z += weight * out[i][j].z;
          sum[i].w += weight * out[i][j].w;
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int part = begin + i * threads;
      if (part >= parts) break;
      const int row = part / kParts;
      const LseMerge merge{merges[row].x, merges[row].y};
      store_row_part<S>(p, item, row, 4 * (part % kParts),
                        sum[i] * (merge.sum > 0 ? 1.0f / merge.sum : 0.0f), merge.lse());
    }
  }
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

  __shared__ float2 merges[kMostRows];  // highest and sum
  merge_lses(p, item, merges);
  __syncthreads();
  merge_outputs<S>(p, item, merges);
  if (thread == 0) p.counters[item.tile] = 0;  // ready for the next launch
}

}  // namespace attnbench::splitkv
