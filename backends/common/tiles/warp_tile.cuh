// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <cmath>
#include <type_traits>

#include "backends/common/cuda/exp2.cuh"
#include "backends/common/cuda/mma_products.cuh"
#include "backends/common/cuda/output_rows.cuh"
#include "backends/common/cuda/temperature.cuh"
#include "backends/common/cuda/visibility.cuh"
#include "backends/common/tiles/params.h"
#include "lib/model/attention_layer.h"

// What one warp does: 16 query rows against keys that lie in shared memory, with an online softmax
// in base 2 (Milakov and Gimelshein, 2018).
namespace attnbench::tiles {

using cuda::Shape;

/// The rows of the tile that one lane holds: row lane / 4 and the one eight below.
struct LaneRows {
  float scale = 1;  ///< of q.k
  cuda::RequestGeometry request;
  bool tree = false;
  int token[2];  ///< -1: no such row
  int head[2];
  int begin[2];
  int end[2];
};

__device__ __forceinline__ LaneRows lane_rows(const Params& p, const Item& item, int first_row) {
  LaneRows rows;
  rows.scale = p.scale * cuda::shared_scale(p, p.k_scales, item.request, item.kv_head);
  rows.request.kv_len = item.kv_len;
  rows.request.q_len = item.q_len;
  rows.request.causal = p.causal;
  rows.request.block = p.block;
  rows.request.window = p.window;
  rows.request.window_by_depth = p.window_by_depth;
  rows.request.chunk = p.chunk;
  if (p.custom_mask != nullptr) {
    rows.tree = true;
    rows.request.mask = p.custom_mask + p.mask_indptr[item.request];
    rows.request.positions = p.positions + item.q_begin;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int row = first_row + static_cast<int>(threadIdx.x % 32) / 4 + 8 * i;
    const bool real = row < item.rows;
    rows.token[i] = real ? (item.row_begin + row) / p.group : -1;
    rows.head[i] = real ? item.kv_head * p.group + (item.row_begin + row) % p.group : 0;
    rows.begin[i] = 0;  // rows beyond the tile see all, so that they never ask for a mask
    rows.end[i] = INT_MAX;
    if (real) {
      const cuda::Visibility seen = cuda::visibility_of(rows.request, rows.token[i]);
      rows.begin[i] = seen.begin;
      rows.end[i] = min(seen.end, item.key_end);
    }
  }
  return rows;
}

template <class S>
__device__ __forceinline__ void load_queries(const Params& p, const Item& item,
                                             const LaneRows& rows, cuda::RegisterQueries<S>& q) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    q.load(i,
           p.q + static_cast<std::int64_t>(item.q_begin + rows.token[i]) * p.q_token_stride +
               rows.head[i] * p.q_head_stride + item.variant * p.q_variant_stride,
           rows.token[i] >= 0);
  }
}

/// Softmax state and output of 16 rows: a lane holds two rows, two columns of each eight.
template <class S>
struct Accumulator {
  float out[1][S::kDv / 8][4] = {};
  float highest[2] = {-INFINITY, -INFINITY};  ///< log2 domain
  float sum[2] = {0, 0};                      ///< of this lane's columns until finish()

  /// Dimension of out[0][tile][j] and out[0][tile][j + 2].
  __device__ __forceinline__ static int dimension(int tile, int j) {
    const int pair = static_cast<int>(threadIdx.x % 4);
    return S::kFp8 ? 16 * (tile / 2) + 4 * pair + 2 * j + tile % 2 : 8 * tile + 2 * pair + j;
  }

  __device__ __forceinline__ void finish() {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      sum[i] += __shfl_xor_sync(~0u, sum[i], 1);
      sum[i] += __shfl_xor_sync(~0u, sum[i], 2);
    }
  }
};

/// Calls change(key, logit) for the keys before `end` whose logits of row `i` the lane has.
template <int kKeys, class Change>
__device__ __forceinline__ void for_keys(float (&s)[kKeys / 8][4], int i, int first_key, int end,
                                         const Change& change) {
  const int first_column = first_key + 2 * static_cast<int>(threadIdx.x % 4);
#pragma unroll
  for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int key = first_column + 8 * n + j;
      if (key < end) change(key, s[n][2 * i + j]);
    }
  }
}

template <int kKeys>
__device__ __forceinline__ void add_alibi(float (&s)[kKeys / 8][4], int i, int first_key,
                                          const LaneRows& rows, const Params& p) {
  const cuda::Visibility seen = cuda::visibility_of(rows.request, rows.token[i]);
  const float slope = exp2f(alibi_log2_slope(p.alibi_power, rows.head[i])) * cuda::kLog2e;
  for_keys<kKeys>(s, i, first_key, rows.end[i], [&](int key, float& x) {
    x -= slope * static_cast<float>(abs(seen.key_position(key) - seen.position));
  });
}

/// Hides what a row does not see of its draft tree. A window by depth is a path of its own: the
/// code of the common one shall be short.
template <int kKeys>
__device__ __forceinline__ void hide_nodes(float (&s)[kKeys / 8][4], int i, int first_key,
                                           const LaneRows& rows) {
  const cuda::RequestGeometry& request = rows.request;
  const int prefix = request.kv_len - request.q_len;
  const std::uint8_t* const mask =
      request.mask + static_cast<std::int64_t>(rows.token[i]) * request.kv_len;
  for_keys<kKeys>(s, i, first_key, rows.end[i], [&](int key, float& x) {
    if (key >= prefix && mask[key] == 0) x = -INFINITY;
  });
  if (request.window < 0 || !request.window_by_depth) return;
  const std::int64_t oldest = request.positions[rows.token[i]] - request.window;
  for_keys<kKeys>(s, i, first_key, rows.end[i], [&](int key, float& x) {
    if (key >= prefix && request.positions[key - prefix] < oldest) x = -INFINITY;
  });
}

/// Logits of the lane's rows and columns in the log2 domain, -inf where a key is hidden.
template <int kKeys>
__device__ __forceinline__ void finish_logits(float (&s)[kKeys / 8][4], int first_key,
                                              const LaneRows& rows, const Params& p) {
  const float scale = rows.scale * cuda::kLog2e;
  if (p.softcap > 0) {
    const float into = rows.scale / p.softcap, out_of = p.softcap * cuda::kLog2e;
#pragma unroll
    for (auto& tile : s)
#pragma unroll
      for (float& x : tile) x = out_of * cuda::tanh_accurate(x * into);
  } else {
#pragma unroll
    for (auto& tile : s)
#pragma unroll
      for (float& x : tile) x *= scale;
  }
  const int prefix = rows.request.kv_len - rows.request.q_len;
  if (p.temperature_len > 0) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float temperature = cuda::temperature_at(p, prefix + rows.token[i]);
#pragma unroll
      for (auto& tile : s) tile[2 * i] *= temperature, tile[2 * i + 1] *= temperature;
    }
  }
  const bool cut = first_key < max(rows.begin[0], rows.begin[1]) ||
                   first_key + kKeys > min(rows.end[0], rows.end[1]);
  const bool in_tree = rows.tree && first_key + kKeys > prefix;
  const bool alibi = p.alibi_power > 0;
  if (!__any_sync(~0u, cut || in_tree || alibi)) return;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    if (rows.token[i] < 0) continue;
    if (alibi) add_alibi<kKeys>(s, i, first_key, rows, p);
    if (in_tree) hide_nodes<kKeys>(s, i, first_key, rows);
    for_keys<kKeys>(s, i, first_key, INT_MAX, [&](int key, float& x) {
      if (key < rows.begin[i] || key >= rows.end[i]) x = -INFINITY;
    });
  }
}

/// Turns logits into weights relative to the highest logit so far; rescales what was summed.
template <class S, int kKeys>
__device__ __forceinline__ void to_weights(float (&s)[kKeys / 8][4], Accumulator<S>& acc) {
  float factor[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    float highest = acc.highest[i];
#pragma unroll
    for (auto& tile : s) highest = fmaxf(highest, fmaxf(tile[2 * i], tile[2 * i + 1]));
    highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, 1));
    highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, 2));
    const float base = highest == -INFINITY ? 0.0f : highest;  // no key seen yet: weights are 0
    factor[i] = cuda::exp2_approx(acc.highest[i] - base);
    acc.highest[i] = highest;
    acc.sum[i] *= factor[i];
#pragma unroll
    for (auto& tile : s) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        tile[2 * i + j] = cuda::exp2_approx(tile[2 * i + j] - base);
        acc.sum[i] += tile[2 * i + j];
      }
    }
  }
  if (!__any_sync(~0u, factor[0] != 1.0f || factor[1] != 1.0f)) return;
#pragma unroll
  for (auto& tile : acc.out[0]) {
    tile[0] *= factor[0];
    tile[1] *= factor[0];
    tile[2] *= factor[1];
    tile[3] *= factor[1];
  }
}

/// 16 rows against kKeys keys, the first of which is `first_key` of the request.
template <class S, int kKeys>
__device__ __forceinline__ void attend(std::uint32_t k_tile, std::uint32_t v_tile, int first_key,
                                       const cuda::RegisterQueries<S>& q, const LaneRows& rows,
                                       const Params& p, Accumulator<S>& acc) {
  float s[1][kKeys / 8][4] = {};
  cuda::multiply_qk<S, 1, kKeys>(s, q, k_tile);
  finish_logits<kKeys>(s[0], first_key, rows, p);
  to_weights<S, kKeys>(s[0], acc);
  cuda::multiply_pv<S, 1, kKeys>(acc.out, s, v_tile);
}

}  // namespace attnbench::tiles
