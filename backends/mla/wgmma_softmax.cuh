// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/mla/wgmma_layout.cuh"
#include "backends/splitkv/warp_tile.cuh"

namespace attnbench::mla::hopper {

/// A row's reference for its weights follows its highest logit only once that is 2^8 times as
/// large: outputs are rarely rescaled, and weights up to 256 are as exact as those up to 1.
inline constexpr float kSlack = 8;

/// Where a thread of a warpgroup is in a tile of 64 rows.
struct Lane {
  int index = static_cast<int>(threadIdx.x % 32);
  int warp_row = static_cast<int>(threadIdx.x % kGroupThreads) / 32 * 16;

  /// Its rows i = 0, 1 of an accumulator.
  __device__ __forceinline__ int row(int i) const { return warp_row + index / 4 + 8 * i; }
  /// Where store_matrices() puts columns 16 i and on of a tile [64, 64] of swizzled rows.
  __device__ __forceinline__ std::uint32_t matrices(std::uint32_t tile, int i) const {
    return tile + (warp_row + index % 16) * cuda::kSwizzledRowBytes +
           16 * ((2 * i + index / 16) ^ (index & 7));
  }
};

__device__ __forceinline__ void store_matrices(std::uint32_t address, const std::uint32_t (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};\n" ::"r"(address),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}

/// Rows of an output of two per lane; nothing where it is by 1.
__device__ __forceinline__ void multiply(float (&out)[32][4], const float (&by)[2]) {
  if (!__any_sync(~0u, by[0] != 1.0f || by[1] != 1.0f)) return;
#pragma unroll
  for (auto& columns : out) {
    columns[0] *= by[0];
    columns[1] *= by[0];
    columns[2] *= by[1];
    columns[3] *= by[1];
  }
}

/// The online softmax of the rows of one of the two warpgroups that compute, in base 2 (Milakov and
/// Gimelshein, 2018). A row's weights are relative to a reference that both warpgroups share.
template <class T, int kGroup, class Form>
class Softmax {
 public:
  __device__ __forceinline__ Softmax(const Params& p, Shared shared, const Item& item)
      : p_(p), shared_(shared), item_(item), clear_(clear_keys(item)) {}

  /// Logits in the log2 domain but for `factor`, which this returns; -inf where a key is hidden.
  __device__ __forceinline__ float finish_logits(float (&s)[8][4], int first_key) const {
    const float scale = scale_of_logits();
    float factor = scale * cuda::kLog2e;
    if (!Form::kPlain && p_.softcap > 0) {
      const float into = scale / p_.softcap, out_of = p_.softcap * cuda::kLog2e;
      factor = 1;
#pragma unroll
      for (auto& tile : s) {
#pragma unroll
        for (float& x : tile) x = out_of * cuda::tanh_accurate(x * into);
      }
    }
    if (first_key < clear_.begin || first_key + kTileKeys > clear_.end) hide(s, first_key);
    return factor;
  }
  /// Highest logits of the lane's two rows.
  __device__ __forceinline__ static float2 top_of(const float (&s)[8][4]) {
    float top[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      top[i] = fmaxf(s[0][2 * i], s[0][2 * i + 1]);
#pragma unroll
      for (int n = 1; n < 8; ++n) top[i] = fmaxf(top[i], fmaxf(s[n][2 * i], s[n][2 * i + 1]));
      top[i] = fmaxf(top[i], __shfl_xor_sync(~0u, top[i], 1));
      top[i] = fmaxf(top[i], __shfl_xor_sync(~0u, top[i], 2));
    }
    return {top[0], top[1]};
  }
  /// Logits to weights, summed, packed as operand A and left for the other warpgroup.
  __device__ __forceinline__ void weigh(float (&s)[8][4], float factor,
                                        std::uint32_t (&weights)[4][4]) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float reference = highest_[i] == -INFINITY ? 0.0f : highest_[i];  // no key seen yet
#pragma unroll
      for (int n = 0; n < 8; ++n) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          float& x = s[n][2 * i + j];
          x = cuda::exp2_approx(fmaf(x, factor, -reference));
          sum_[i] += x;
        }
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      weights[i][0] = cuda::pack2<T>(s[2 * i][0], s[2 * i][1]);
      weights[i][1] = cuda::pack2<T>(s[2 * i][2], s[2 * i][3]);
      weights[i][2] = cuda::pack2<T>(s[2 * i + 1][0], s[2 * i + 1][1]);
      weights[i][3] = cuda::pack2<T>(s[2 * i + 1][2], s[2 * i + 1][3]);
      store_matrices(lane_.matrices(shared_.weights(kGroup), i), weights[i]);
    }
    cuda::fence_proxy_async();
  }
  /// Takes over references that the other warpgroup raised.
  __device__ __forceinline__ void follow(int tile, float (&by)[2]) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float now = shared_.highest(tile)[lane_.row(i)];
      by[i] = change(highest_[i], now);
      highest_[i] = now;
      sum_[i] *= by[i];
    }
  }
  /// Raises references where this tile's logits ask for it, and tells the other warpgroup.
  __device__ __forceinline__ void raise(float2 top, float factor, float (&by)[2]) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float now = raised(highest_[i], (i == 0 ? top.x : top.y) * factor);
      by[i] = change(highest_[i], now);
      highest_[i] = now;
      sum_[i] *= by[i];
      if (lane_.index % 4 == 0) shared_.highest(kGroup)[lane_.row(i)] = now;
    }
  }

  /// Base 2; a row without keys has -inf.
  [[nodiscard]] __device__ __forceinline__ float lse(int i, float total) const {
    return total > 0 ? highest_[i] + log2f(total) : -INFINITY;
  }
  /// This warpgroup's sums of weights.
  __device__ __forceinline__ void share_sums(bool odd) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      sum_[i] += __shfl_xor_sync(~0u, sum_[i], 1);
      sum_[i] += __shfl_xor_sync(~0u, sum_[i], 2);
      if (lane_.index % 4 == 0) shared_.sums(kGroup, odd)[lane_.row(i)] = sum_[i];
    }
  }

 private:
  /// Read for each tile, so that it needs no register between them: the loop spills some already.
  __device__ __forceinline__ float scale_of_logits() const {
    if constexpr (Form::kFp8)
      return p_.scale * cuda::shared_scale(p_, p_.k_scales, item_.request, 0);
    return p_.scale;
  }
  /// Keys [begin, end) that all rows of this warp see.
  struct Clear {
    int begin, end;
  };
  __device__ __forceinline__ Clear clear_keys(const Item& item) const {
    if constexpr (Form::kPlain) {
      const int end = min(plain_end(item, 0), plain_end(item, 1));
      return {0, static_cast<int>(__reduce_min_sync(~0u, static_cast<unsigned>(end)))};
    }
    const splitkv::LaneRows rows = splitkv::lane_rows(p_, item, lane_.warp_row);
    int end = min(rows.end[0], rows.end[1]);
    if (rows.tree) end = min(end, item.kv_len - item.q_len);
    return {static_cast<int>(
                __reduce_max_sync(~0u, static_cast<unsigned>(max(rows.begin[0], rows.begin[1])))),
            static_cast<int>(__reduce_min_sync(~0u, static_cast<unsigned>(end)))};
  }

  /// Where the keys end that row i of this lane sees, all from 0 on. Rows beyond the item's see
  /// all.
  __device__ __forceinline__ int plain_end(const Item& item, int i) const {
    if (lane_.row(i) >= item.rows) return INT_MAX;
    const int token = (item.row_begin + lane_.row(i)) / p_.group;
    const int later = p_.causal ? item.q_len - 1 - token : 0;
    return min(max(item.kv_len - later, 0), item.key_end);
  }

  __device__ __forceinline__ void hide(float (&s)[8][4], int first_key) const {
    if constexpr (Form::kPlain) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int left = plain_end(item_, i) - first_key - 2 * (lane_.index % 4);
#pragma unroll
        for (int at = 0; at < 16; ++at) {
          if (8 * (at / 2) + at % 2 >= left) s[at / 2][2 * i + at % 2] = -INFINITY;
        }
      }
      return;
    }
    const std::uint32_t hidden = hidden_keys(first_key);
#pragma unroll
    for (int at = 0; at < 32; ++at) {
      if (hidden >> at & 1) s[at / 4][at % 4] = -INFINITY;
    }
  }
  /// A bit for each of a lane's 32 logits. Not unrolled: few tiles need it, and it would take the
  /// registers that all need.
  __device__ __forceinline__ std::uint32_t hidden_keys(int first_key) const {
    const splitkv::LaneRows rows = splitkv::lane_rows(p_, item_, lane_.warp_row);
    std::uint32_t hidden = 0;
    for (int i = 0; i < 2; ++i) {
      const cuda::Visibility seen = cuda::visibility_of(rows.request, max(rows.token[i], 0));
#pragma unroll 1
      for (int at = 0; at < 16; ++at) {
        const int key = first_key + 8 * (at / 2) + 2 * (lane_.index % 4) + at % 2;
        const bool hide = key < rows.begin[i] || key >= rows.end[i] ||
                          (rows.token[i] >= 0 && seen.tree_hides(key));
        hidden |= static_cast<std::uint32_t>(hide) << (4 * (at / 2) + 2 * i + at % 2);
      }
    }
    return hidden;
  }
  /// The reference of a row after a tile whose highest logit is `top`.
  __device__ __forceinline__ static float raised(float reference, float top) {
    return top > reference + kSlack ? top : reference;
  }
  /// What sums relative to `before` are to be multiplied by.
  __device__ __forceinline__ static float change(float before, float after) {
    return before == after ? 1.0f : cuda::exp2_approx(before - after);
  }

  const Params& p_;
  Shared shared_;
  const Item& item_;
  Clear clear_;
  Lane lane_;
  float highest_[2] = {-INFINITY, -INFINITY};  ///< what weights are relative to, log2 domain
  float sum_[2] = {0, 0};  ///< of this warpgroup's weights and, at first, this lane's columns
};

}  // namespace attnbench::mla::hopper
