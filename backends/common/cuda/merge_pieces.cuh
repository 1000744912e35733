// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

// The merge of a tile's pieces. The block that finishes last merges the results of the other
// blocks, which have the same rows and other keys. Most of the GPU is idle by then, so the number
// of loads in flight decides the time: one after another they take longer than the pieces did.
// Loops are unrolled no further than that, because code that is not in a cache yet costs as much as
// data.
namespace attnbench::cuda {

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

/// Normalised outputs [rows, dv] and base-2 LSEs [rows] of each piece.
struct TilePieces {
  const float* out = nullptr;  ///< of the first piece
  const float* lse = nullptr;
  std::int64_t stride = 0;  ///< rows from a piece to the next
  int count = 0;
  int rows = 0;
};

/// Of all rows the highest LSE, the sum, and the LSE without the sink, into `merges` [rows] in
/// shared memory. Called by `threads` threads, whole warps and at least one per row, `thread`
/// counting from 0; sink(row) is a logit in base 2 or -inf. Neighbouring threads share a row, so
/// that all rows are read at once.
template <class Sink>
__device__ __forceinline__ void merge_lses(const TilePieces& pieces, int thread, int threads,
                                           const Sink& sink, float3* merges) {
  constexpr int kLoads = 4;
  int lanes = 32;
  while (lanes * pieces.rows > threads) lanes /= 2;
  const int row = thread / lanes, lane = thread % lanes;
  const bool real = row < pieces.rows;
  const float sink_lse = lane == 0 && real ? sink(row) : -INFINITY;
  const float* const lses = pieces.lse + row;
  LseMerge merge;
  for (int first = lane; real && first < pieces.count; first += kLoads * lanes) {
    float lse[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int piece = first + i * lanes;
      lse[i] = piece < pieces.count ? __ldcg(lses + piece * pieces.stride) : -INFINITY;
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) merge.add(lse[i]);
  }
  for (int other = lanes / 2; other > 0; other /= 2) {
    const float highest = __shfl_xor_sync(~0u, merge.highest, other);
    const float sum = __shfl_xor_sync(~0u, merge.sum, other);
    merge.add(highest, sum);
  }
  if (lane > 0 || !real) return;
  const float of_keys = merge.lse();
  merge.add(sink_lse);
  merges[row] = {merge.highest, merge.sum, of_keys};
}

/// Calls store(row, d, values d to d + 3, merge of the row, its LSE without the sink) for all rows,
/// by the same threads after a barrier. A thread has kTogether fours of columns at a time, and
/// loads them from kAtOnce pieces at once.
template <int kDv, class Store>
__device__ __forceinline__ void merge_outputs(const TilePieces& pieces, int thread, int threads,
                                              const float3* merges, const Store& store) {
  constexpr int kTogether = 2, kAtOnce = 4;
  constexpr int kParts = kDv / 4;
  const int parts = pieces.rows * kParts;
  for (int begin = thread; begin < parts; begin += kTogether * threads) {
    float sum[kTogether][4] = {};
    for (int piece = 0; piece < pieces.count; piece += kAtOnce) {
      float4 out[kTogether][kAtOnce];
      float lse[kTogether][kAtOnce];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const int part = begin + i * threads;
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j) {
          lse[i][j] = -INFINITY;
          out[i][j] = {0, 0, 0, 0};
          if (part >= parts || piece + j >= pieces.count) continue;
          const std::int64_t at = (piece + j) * pieces.stride + part / kParts;
          lse[i][j] = __ldcg(pieces.lse + at);
          out[i][j] =
              __ldcg(reinterpret_cast<const float4*>(pieces.out + at * kDv + 4 * (part % kParts)));
        }
      }
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const float3 state = merges[min((begin + i * threads) / kParts, pieces.rows - 1)];
        const LseMerge merge{state.x, state.y};
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j) {
          const float weight = merge.unscaled_weight(lse[i][j]);
          sum[i][0] += weight * out[i][j].x;
          sum[i][1] += weight * out[i][j].y;
          sum[i][2] += weight * out[i][j].z;
          sum[i][3] += weight * out[i][j].w;
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int part = begin + i * threads;
      if (part >= parts) break;
      const float3 state = merges[part / kParts];
      const LseMerge merge{state.x, state.y};
      const float inverse = merge.sum > 0 ? 1.0f / merge.sum : 0.0f;
#pragma unroll
      for (float& x : sum[i]) x *= inverse;
      store(part / kParts, 4 * (part % kParts), sum[i], merge, state.z);
    }
  }
}

/// What the threads that merge share.
template <int kRows>
struct MergeRoom {
  float3 rows[kRows];  ///< as merge_lses() leaves them
  bool last;
};

/// Called by `threads` threads after their last store of a piece, `thread` counting from 0, with
/// `sync` a barrier of them. `counter` counts the tile's pieces that are done and is 0 between
/// launches. The block that finishes last merges all pieces, in their order, so that which block
/// that is does not show in the result; `sink` and `store` as above.
template <int kDv, int kRows, class Sync, class Sink, class Store>
__device__ __forceinline__ void merge_when_last(const TilePieces& pieces, std::int32_t* counter,
                                                int thread, int threads, MergeRoom<kRows>& room,
                                                const Sync& sync, const Sink& sink,
                                                const Store& store) {
  __threadfence();
  sync();
  if (thread == 0) room.last = atomicAdd(counter, 1) == pieces.count - 1;
  sync();
  if (!room.last) return;
  __threadfence();
  merge_lses(pieces, thread, threads, sink, room.rows);
  sync();
  merge_outputs<kDv>(pieces, thread, threads, room.rows, store);
  if (thread == 0) *counter = 0;  // ready for the next launch
}

}  // namespace attnbench::cuda
