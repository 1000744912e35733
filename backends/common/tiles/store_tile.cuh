// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/merge_pieces.cuh"
#include "backends/common/cuda/output_rows.cuh"
#include "backends/common/cuda/store_out.cuh"
#include "backends/common/cuda/warp_results.cuh"
#include "backends/common/tiles/warp_tile.cuh"

// How a block's tile of rows leaves: as output, or as a partial result that the tile's last block
// merges. Rows wait in shared memory.
namespace attnbench::tiles {

using cuda::kRowFloats;

/// Rows of the largest tile.
inline constexpr int kMostRows = 64;

__device__ __forceinline__ cuda::RowPlace place_of(const Params& p, const Item& item, int row) {
  return cuda::place_of(p, item.q_begin, item.kv_head, item.row_begin + row);
}

__device__ __forceinline__ float4 operator*(float4 a, float b) {
  return {a.x * b, a.y * b, a.z * b, a.w * b};
}

template <class S>
__device__ __forceinline__ void store_row_part(const Params& p, const Item& item, int row, int d,
                                               float4 value, float lse) {
  const cuda::RowPlace place = place_of(p, item, row);
  const float factor = cuda::out_factor(p, item.request, item.kv_head);
  cuda::store_out<typename S::T>(p, place, d, value * factor);
  if (d == 0) cuda::store_lse(p, place, lse);
}

__device__ __forceinline__ float sink_of(const Params& p, const Item& item, int row) {
  return cuda::sink_of(p, place_of(p, item, row).head);
}
__device__ __forceinline__ cuda::LseMerge with_sink(const Params& p, const Item& item, int row) {
  cuda::LseMerge merge;
  merge.add(sink_of(p, item, row));
  return merge;
}

/// Called by every thread of the block. `rows` [tile rows, kRowFloats] holds normalised outputs,
/// `lse` [tile rows] their base-2 LSEs.
template <class S>
__device__ __forceinline__ void store_tile(const Params& p, const Item& item, const float* rows,
                                           const float* lse) {
  constexpr int kParts = S::kDv / 4;
  const int parts = item.rows * kParts;
  const auto thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int i = thread; i < parts; i += threads) {
    const int row = i / kParts, d = 4 * (i % kParts);
    const float4 value = *reinterpret_cast<const float4*>(rows + row * kRowFloats<S::kDv> + d);
    if (item.splits == 1) {
      cuda::LseMerge merge = with_sink(p, item, row);
      merge.add(lse[row]);
      store_row_part<S>(p, item, row, d, value * merge.weight(lse[row]),
                        p.sink_in_lse ? merge.lse() : lse[row]);
    } else {
      const std::int64_t at = static_cast<std::int64_t>(item.partial) * p.partial_rows + row;
      *reinterpret_cast<float4*>(p.partial_out + at * S::kDv + d) = value;
      if (d == 0) p.partial_lse[at] = lse[row];
    }
  }
  if (item.splits <= 1) return;  // 0: another kernel merges

  __shared__ cuda::MergeRoom<kMostRows> room;
  const std::int64_t first = static_cast<std::int64_t>(item.first_partial) * p.partial_rows;
  cuda::TilePieces pieces;
  pieces.out = p.partial_out + first * S::kDv;
  pieces.lse = p.partial_lse + first;
  pieces.stride = p.partial_rows;
  pieces.count = item.splits;
  pieces.rows = item.rows;
  cuda::merge_when_last<S::kDv>(
      pieces, p.counters + item.tile, thread, threads, room, [] { __syncthreads(); },
      [&](int row) { return sink_of(p, item, row); },
      [&](int row, int d, const float(&value)[4], const cuda::LseMerge& merge, float of_keys) {
        store_row_part<S>(p, item, row, d, {value[0], value[1], value[2], value[3]},
                          p.sink_in_lse ? merge.lse() : of_keys);
      });
}

}  // namespace attnbench::tiles
