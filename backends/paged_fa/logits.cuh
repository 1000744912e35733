// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "backends/common/cuda/exp2.cuh"
#include "backends/common/cuda/temperature.cuh"
#include "backends/common/cuda/visibility.cuh"
#include "backends/paged_fa/launch.h"

// What happens to a tile of logits between the two matrix products. A lane holds rows
// first_row + lane / 4 + 8 i of every tile of 16, and of each 8 keys the columns 2 (lane % 4) and
// the next: s[tile][n][2 i + j].
namespace attnbench::paged_fa {

__device__ __forceinline__ cuda::RequestGeometry geometry_of(const Params& p, int sequence) {
  cuda::RequestGeometry request;
  const int first_token = p.cu_seqlens_q[sequence];
  request.kv_len = p.cache_seqlens[sequence];
  request.q_len = p.cu_seqlens_q[sequence + 1] - first_token;
  request.causal = p.causal;
  request.block = p.block;
  request.window = p.window;
  request.window_by_depth = p.window_by_depth;
  request.chunk = p.chunk;
  if (p.custom_mask != nullptr) {
    request.mask = p.custom_mask + p.mask_indptr[sequence];
    request.positions = p.positions + first_token;
  }
  return request;
}

/// Keys that a query token sees: where prompts have spans those that the plan listed, else those
/// that the rules of its request leave.
template <bool kSpans>
__device__ __forceinline__ cuda::Visibility seen_by(const Params& p, const Item& item,
                                                    const cuda::RequestGeometry& request,
                                                    int token) {
  if constexpr (!kSpans) {
    return cuda::visibility_of(request, token);
  } else {
    const int first_token = p.cu_seqlens_q[item.sequence];
    const int2 run = __ldg(reinterpret_cast<const int2*>(p.seen) + first_token + token);
    cuda::Visibility seen;
    seen.begin = run.x;
    seen.end = run.y;
    return seen;
  }
}

/// Hides what one row must not see. `s` are its logits of kTiles8 times 8 keys, i picks the row.
template <bool kSpans, int kTiles8>
__device__ __forceinline__ void hide_row(float (&s)[kTiles8][4], int i, int first_key, int row,
                                         const Params& p, const Item& item,
                                         const cuda::RequestGeometry& request) {
  // Rows beyond the tile are computed like its last and never stored.
  const int token = (item.row_begin + min(row, item.rows - 1)) / p.group;
  const cuda::Visibility seen = seen_by<kSpans>(p, item, request, token);
  const int end = min(seen.end, item.key_end);
  const int first_column = first_key + 2 * static_cast<int>(threadIdx.x % 4);
#pragma unroll
  for (int n = 0; n < kTiles8; ++n) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int key = first_column + 8 * n + j;
      const bool hidden = key < seen.begin || key >= end || (!kSpans && seen.tree_hides(key));
      if (hidden) s[n][2 * i + j] = -INFINITY;
    }
  }
}

/// softcap * tanh(scale * q.k / softcap), times log2(e).
template <int kTiles8>
__device__ __forceinline__ void cap_logits(float (&s)[kTiles8][4], const Params& p, float scale) {
  const float into = scale / p.softcap, out_of = p.softcap * cuda::kLog2e;
#pragma unroll
  for (auto& tile : s) {
#pragma unroll
    for (float& x : tile) x = out_of * cuda::tanh_accurate(x * into);
  }
}

/// Multiplies the logits of row i by the temperature of its query's place.
template <int kTiles8>
__device__ __forceinline__ void warm_row(float (&s)[kTiles8][4], int i, int row, const Params& p,
                                         const Item& item, const cuda::RequestGeometry& request) {
  const int token = (item.row_begin + min(row, item.rows - 1)) / p.group;
  const float temperature = cuda::temperature_at(p, request.kv_len - request.q_len + token);
#pragma unroll
  for (auto& tile : s) tile[2 * i] *= temperature, tile[2 * i + 1] *= temperature;
}

/// Turns logits of rows i = 0, 1 into weights relative to the highest logit so far, which is kept
/// in the log2 domain: logit * factor. Gives what sums so far are to be multiplied by (Milakov and
/// Gimelshein, 2018).
template <int kTiles8>
__device__ __forceinline__ void to_weights(float (&s)[kTiles8][4], float factor,
                                           float (&highest)[2], float (&sum)[2],
                                           float (&rescale)[2]) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    float top = fmaxf(s[0][2 * i], s[0][2 * i + 1]);
#pragma unroll
    for (int n = 1; n < kTiles8; ++n) top = fmaxf(top, fmaxf(s[n][2 * i], s[n][2 * i + 1]));
    top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
    top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
    top = fmaxf(highest[i], top * factor);
    const float base = top == -INFINITY ? 0.0f : top;  // no key seen yet: weights are 0
    rescale[i] = cuda::exp2_approx(highest[i] - base);
    highest[i] = top;
    float added = 0;
#pragma unroll
    for (int n = 0; n < kTiles8; ++n) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        float& x = s[n][2 * i + j];
        x = cuda::exp2_approx(fmaf(x, factor, -base));
        added += x;
      }
    }
    sum[i] = fmaf(sum[i], rescale[i], added);
  }
}

}  // namespace attnbench::paged_fa
