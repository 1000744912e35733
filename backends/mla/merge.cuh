// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/mla/params.h"
#include "backends/splitkv/store.cuh"

namespace attnbench::mla {

inline constexpr int kMergeThreads = 128;

/// Merges the pieces of row blockIdx.y of tile blockIdx.x of p.merges by their LSEs, in their
/// order.
template <class T>
__global__ void __launch_bounds__(kMergeThreads) merge_kernel(const __grid_constant__ MlaParams p) {
  constexpr int kDv = 4 * kMergeThreads;
  const SplitKvItem item = p.merges[blockIdx.x];
  const int row = static_cast<int>(blockIdx.y), lane = static_cast<int>(threadIdx.x % 32);
  if (row >= item.rows) return;
  const std::int64_t first = static_cast<std::int64_t>(item.first_partial) * p.partial_rows + row;
  const auto lse_of = [&](int split) {
    return __ldg(p.partial_lse + first + split * p.partial_rows);
  };

  splitkv::LseMerge merge;
  for (int split = lane; split < item.splits; split += 32) merge.add(lse_of(split));
#pragma unroll
  for (int other = 16; other > 0; other /= 2) {
    const float highest = __shfl_xor_sync(~0u, merge.highest, other);
    const float sum = __shfl_xor_sync(~0u, merge.sum, other);
    merge.add(highest, sum);
  }
  const splitkv::LseMerge sink = splitkv::with_sink(p, item, row);
  merge.add(sink.highest, sink.sum);

  const int d = 4 * static_cast<int>(threadIdx.x);
  float4 sum{0, 0, 0, 0};
#pragma unroll 8
  for (int split = 0; split < item.splits; ++split) {
    const float weight = merge.weight(lse_of(split));
    const float4 part = __ldg(reinterpret_cast<const float4*>(
        p.partial_out + (first + static_cast<std::int64_t>(split) * p.partial_rows) * kDv + d));
    sum.x += weight * part.x;
    sum.y += weight * part.y;
    sum.z += weight * part.z;
    sum.w += weight * part.w;
  }
  const std::int64_t token = item.q_begin + (item.row_begin + row) / p.group;
  const int head = (item.row_begin + row) % p.group;
  const uint2 packed{cuda::pack2<T>(sum.x * p.v_scale, sum.y * p.v_scale),
                     cuda::pack2<T>(sum.z * p.v_scale, sum.w * p.v_scale)};
  *reinterpret_cast<uint2*>(p.out + token * p.out_token_stride + head * p.out_head_stride + 2 * d) =
      packed;
  if (d == 0) {
    *reinterpret_cast<float*>(p.lse + token * p.lse_token_stride + head * p.lse_head_stride) =
        merge.lse() * cuda::kLn2;
  }
}

}  // namespace attnbench::mla
