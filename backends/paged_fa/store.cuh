// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "backends/common/cuda/merge_pieces.cuh"
#include "backends/common/cuda/output_rows.cuh"
#include "backends/common/cuda/shape.cuh"
#include "backends/common/cuda/store_out.cuh"
#include "backends/paged_fa/launch.h"

// How rows leave a block: as output, or as partial results that the tile's last block merges.
namespace attnbench::paged_fa {

/// What a row's sums are multiplied by, and its base-2 LSE. A sink joins the denominator only.
struct RowEnd {
  float weight = 0;
  float lse = -INFINITY;
};

/// `highest` and `sum` of exp2(logit - highest); `sink` is a logit in base 2 or -inf.
__device__ __forceinline__ RowEnd end_of_row(float highest, float sum, float sink) {
  const float top = fmaxf(highest, sink);
  if (top == -INFINITY) return {};  // no key, no sink
  const float factor = exp2f(highest - top);
  const float total = sum * factor + exp2f(sink - top);
  return {factor / total, top + log2f(total)};
}

using cuda::RowPlace;

/// Of row `row` of a tile; `q_begin` is its sequence's first query token.
__device__ __forceinline__ RowPlace place_of(const Params& p, const Item& item, int kv_head,
                                             int row, int q_begin) {
  return cuda::place_of(p, q_begin, kv_head, item.row_begin + row);
}
__device__ __forceinline__ RowPlace place_of(const Params& p, const Item& item, int kv_head,
                                             int row) {
  return place_of(p, item, kv_head, row, p.cu_seqlens_q[item.sequence]);
}

/// Bytes of q before a row's query, in the form that the item's keys meet.
__device__ __forceinline__ std::int64_t query_offset(const Params& p, const Item& item,
                                                     const RowPlace& place) {
  return place.token * p.q_token_stride + place.head * p.q_head_stride +
         item.variant * p.q_variant_stride;
}
__device__ __forceinline__ const std::byte* query_row(const Params& p, const Item& item,
                                                      const RowPlace& place) {
  return p.q + query_offset(p, item, place);
}

/// Values d, d + 1, … of one output row; kCount is 2 or 4. Those that pad a row of kDv are left
/// out.
template <class T, int kDv, int kCount>
__device__ __forceinline__ void store_out(const Params& p, const RowPlace& place, int d,
                                          const float (&value)[kCount]) {
  if (kDv == cuda::kPaddedDim && d >= p.head_dim) return;
  if constexpr (kCount == 4) {
    cuda::store_out<T>(p, place, d, float4{value[0], value[1], value[2], value[3]});
  } else {
    cuda::store_out<T>(p, place, d, float2{value[0], value[1]});
  }
}

/// Row of the partial results where piece `partial` keeps the tile's first row.
__device__ __forceinline__ std::int64_t partial_row(const Params& p, int partial, int kv_head) {
  return (static_cast<std::int64_t>(partial) * p.heads_kv + kv_head) * p.partial_rows;
}

/// One row's way out of a block; made once per row, then asked for each of its dimensions.
template <class T, int kDv>
class RowStore {
 public:
  __device__ __forceinline__ RowStore(const Params& p, const Item& item, int kv_head, int row,
                                      float highest, float sum)
      : p_(p), whole_(item.splits == 1) {
    place_ = place_of(p, item, kv_head, row);
    partial_ = partial_row(p, item.partial, kv_head) + row;
    end_ = end_of_row(highest, sum, whole_ ? cuda::sink_of(p, place_.head) : -INFINITY);
    if (whole_) end_.weight *= cuda::out_factor(p, item.sequence, kv_head);
  }

  __device__ __forceinline__ void lse() const {
    if (whole_) {
      cuda::store_lse(p_, place_, end_.lse);
    } else {
      p_.partial_lse[partial_] = end_.lse;
    }
  }

  template <int kCount>
  __device__ __forceinline__ void values(int d, float (&value)[kCount]) const {
#pragma unroll
    for (float& x : value) x *= end_.weight;
    if (whole_) {
      store_out<T, kDv>(p_, place_, d, value);
    } else {
      float* const row = p_.partial_out + partial_ * kDv + d;
#pragma unroll
      for (int i = 0; i < kCount; i += 2) {
        *reinterpret_cast<float2*>(row + i) = {value[i], value[i + 1]};
      }
    }
  }

 private:
  const Params& p_;
  bool whole_;
  RowPlace place_;
  std::int64_t partial_;
  RowEnd end_;
};

/// See cuda::merge_when_last().
template <class T, int kDv, int kRows, class Sync>
__device__ __forceinline__ void merge_pieces(const Params& p, const Item& item, int kv_head,
                                             int thread, int threads, cuda::MergeRoom<kRows>& room,
                                             const Sync& sync) {
  if (item.splits == 1) return;
  const int q_begin = p.cu_seqlens_q[item.sequence];  // one trip less at the end
  const std::int64_t first = partial_row(p, item.first_partial, kv_head);
  cuda::TilePieces pieces;
  pieces.out = p.partial_out + first * kDv;
  pieces.lse = p.partial_lse + first;
  pieces.stride = static_cast<std::int64_t>(p.heads_kv) * p.partial_rows;
  pieces.count = item.splits;
  pieces.rows = item.rows;
  const auto place = [&](int row) { return place_of(p, item, kv_head, row, q_begin); };
  cuda::merge_when_last<kDv>(
      pieces, p.counters + item.tile * p.heads_kv + kv_head, thread, threads, room, sync,
      [&](int row) { return cuda::sink_of(p, place(row).head); },
      [&](int row, int d, float(&value)[4], const cuda::LseMerge& merge, float) {
        const float factor = cuda::out_factor(p, item.sequence, kv_head);
#pragma unroll
        for (float& x : value) x *= factor;
        store_out<T, kDv>(p, place(row), d, value);
        if (d == 0) cuda::store_lse(p, place(row), merge.lse());
      });
}

}  // namespace attnbench::paged_fa
