// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "backends/common/cuda/exp2.cuh"
#include "backends/common/cuda/kv_convert.cuh"
#include "backends/paged_fa/kernel_params.h"

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

/// Where row `row` of a tile lies in q, out and lse.
struct RowPlace {
  std::int64_t token = 0;
  int head = 0;
};

__device__ __forceinline__ RowPlace place_of(const PagedFaParams& p, const PagedFaItem& item,
                                             int kv_head, int row) {
  const int at = item.row_begin + row;
  return {static_cast<std::int64_t>(p.cu_seqlens_q[item.sequence]) + at / p.group,
          kv_head * p.group + at % p.group};
}

__device__ __forceinline__ float sink_of(const PagedFaParams& p, int head) {
  return p.sinks == nullptr ? -INFINITY : p.sinks[head] * cuda::kLog2e;
}

/// Values d, d + 1, … of one output row; kCount is 2 or 4.
template <class T, int kCount>
__device__ __forceinline__ void store_out(const PagedFaParams& p, const RowPlace& place, int d,
                                          const float (&value)[kCount]) {
  std::byte* const row = p.out + place.token * p.out_token_stride + place.head * p.out_head_stride;
#pragma unroll
  for (int i = 0; i < kCount; i += 2) {
    if (p.out_f32) {
      *reinterpret_cast<float2*>(row + 4 * (d + i)) = {value[i], value[i + 1]};
    } else {
      *reinterpret_cast<std::uint32_t*>(row + 2 * (d + i)) = cuda::pack2<T>(value[i], value[i + 1]);
    }
  }
}

__device__ __forceinline__ void store_lse(const PagedFaParams& p, const RowPlace& place,
                                          float lse) {
  *reinterpret_cast<float*>(p.lse + place.token * p.lse_token_stride +
                            place.head * p.lse_head_stride) = lse * cuda::kLn2;
}

/// Row of the partial results where piece `partial` keeps the tile's first row.
__device__ __forceinline__ std::int64_t partial_row(const PagedFaParams& p, int partial,
                                                    int kv_head) {
  return (static_cast<std::int64_t>(partial) * p.heads_kv + kv_head) * p.partial_rows;
}

/// One row's way out of a block; made once per row, then asked for each of its dimensions.
template <class T, int kDv>
class RowStore {
 public:
  __device__ __forceinline__ RowStore(const PagedFaParams& p, const PagedFaItem& item, int kv_head,
                                      int row, float highest, float sum)
      : p_(p), whole_(item.splits == 1) {
    place_ = place_of(p, item, kv_head, row);
    partial_ = partial_row(p, item.partial, kv_head) + row;
    end_ = end_of_row(highest, sum, whole_ ? sink_of(p, place_.head) : -INFINITY);
    if (whole_) end_.weight *= p.v_scale;
  }

  __device__ __forceinline__ void lse() const {
    if (whole_) {
      store_lse(p_, place_, end_.lse);
    } else {
      p_.partial_lse[partial_] = end_.lse;
    }
  }

  template <int kCount>
  __device__ __forceinline__ void values(int d, float (&value)[kCount]) const {
#pragma unroll
    for (float& x : value) x *= end_.weight;
    if (whole_) {
      store_out<T>(p_, place_, d, value);
    } else {
      float* const row = p_.partial_out + partial_ * kDv + d;
#pragma unroll
      for (int i = 0; i < kCount; i += 2) {
        *reinterpret_cast<float2*>(row + i) = {value[i], value[i + 1]};
      }
    }
  }

 private:
  const PagedFaParams& p_;
  bool whole_;
  RowPlace place_;
  std::int64_t partial_;
  RowEnd end_;
};

/// Called by `threads` threads after their last store, `thread` counting from 0, with `sync` a
/// barrier of them: the block that finishes a tile last merges all pieces, in their order, so that
/// which block that is does not show in the result. `last` is in shared memory.
template <class T, int kDv, class Sync>
__device__ __forceinline__ void merge_pieces(const PagedFaParams& p, const PagedFaItem& item,
                                             int kv_head, int thread, int threads, bool* last,
                                             const Sync& sync) {
  if (item.splits == 1) return;
  std::int32_t* const counter = p.counters + item.tile * p.heads_kv + kv_head;
  __threadfence();
  sync();
  if (thread == 0) *last = atomicAdd(counter, 1) == item.splits - 1;
  sync();
  if (!*last) return;
  __threadfence();
  constexpr int kParts = kDv / 4;
  const std::int64_t stride = static_cast<std::int64_t>(p.heads_kv) * p.partial_rows;
  for (int i = thread; i < item.rows * kParts; i += threads) {
    const int row = i / kParts, d = 4 * (i % kParts);
    const RowPlace place = place_of(p, item, kv_head, row);
    const std::int64_t first = partial_row(p, item.first_partial, kv_head) + row;
    float highest = sink_of(p, place.head);
    for (int split = 0; split < item.splits; ++split) {
      highest = fmaxf(highest, __ldcg(p.partial_lse + first + split * stride));
    }
    const float base = highest == -INFINITY ? 0.0f : highest;
    float total = exp2f(sink_of(p, place.head) - base);
    float value[4] = {};
#pragma unroll 4
    for (int split = 0; split < item.splits; ++split) {
      const std::int64_t at = first + split * stride;
      const float weight = exp2f(__ldcg(p.partial_lse + at) - base);
      const float4 part = __ldcg(reinterpret_cast<const float4*>(p.partial_out + at * kDv + d));
      total += weight;
      value[0] += weight * part.x;
      value[1] += weight * part.y;
      value[2] += weight * part.z;
      value[3] += weight * part.w;
    }
    const float inverse = total > 0 ? p.v_scale / total : 0.0f;
#pragma unroll
    for (float& x : value) x *= inverse;
    store_out<T>(p, place, d, value);
    if (d == 0) store_lse(p, place, total > 0 ? base + log2f(total) : -INFINITY);
  }
  if (thread == 0) *counter = 0;  // ready for the next launch
}

}  // namespace attnbench::paged_fa
