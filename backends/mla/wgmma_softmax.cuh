// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/tiles/store_tile.cuh"
#include "backends/common/tiles/warp_tile.cuh"
#include "backends/mla/rows.cuh"
#include "backends/mla/wgmma_layout.cuh"

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
    const tiles::LaneRows rows = tiles::lane_rows(p_, item, lane_.warp_row);
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
    const tiles::LaneRows rows = tiles::lane_rows(p_, item_, lane_.warp_row);
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

/// How a warpgroup's half of an item's output leaves: as output, or as a piece that waits for the
/// merge.
template <class T, int kGroup, class Form>
class Store {
 public:
  __device__ __forceinline__ Store(const Params& p, Shared shared) : p_(p), shared_(shared) {}

  /// Normalises and stores; `odd` is that of the item's number.
  __device__ __forceinline__ void finish(const Item& item, bool odd,
                                         Softmax<T, kGroup, Form>& softmax,
                                         float (&out)[32][4]) const {
    softmax.share_sums(odd);
    cuda::mbarrier_arrive(shared_.sums_full());
    cuda::mbarrier_wait(shared_.sums_full(), odd ? 1 : 0);
    float share[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float total = shared_.sums(0, odd)[lane_.row(i)] + shared_.sums(1, odd)[lane_.row(i)];
      const float lse = softmax.lse(i, total);
      share[i] = total > 0 ? 1.0f / total : 0.0f;
      if (lane_.row(i) >= item.rows) continue;
      if (item.splits > 1) {
        if (kGroup == 0 && lane_.index % 4 == 0) {
          p_.partial_lse[partial_row(item, lane_.row(i))] = lse;
        }
        continue;
      }
      cuda::LseMerge merge = tiles::with_sink(p_, item, lane_.row(i));
      merge.add(lse);
      share[i] *= merge.weight(lse) * out_factor(item);
      if (kGroup == 0 && lane_.index % 4 == 0) {
        cuda::store_lse(p_, place_of(p_, item, lane_.row(i)), p_.sink_in_lse ? merge.lse() : lse);
      }
    }
    multiply(out, share);
    if (item.splits > 1) {
      store_partial(item, out);
    } else if constexpr (Form::kFp8Out) {
      store_fp8(item, out);
    } else {
      store_output(item, out);
    }
  }

 private:
  /// Only latents in fp8 have scales by request.
  __device__ __forceinline__ float out_factor(const Item& item) const {
    if constexpr (Form::kFp8) return cuda::out_factor(p_, item.request, item.kv_head);
    return p_.v_scale;
  }
  __device__ __forceinline__ std::int64_t partial_row(const Item& item, int row) const {
    return static_cast<std::int64_t>(item.partial) * p_.partial_rows +
           static_cast<int>(blockIdx.x) % p_.lanes * kRows + row;
  }

  /// 64 columns at a time through shared memory, where this warpgroup's weights were: a warp writes
  /// whole lines of its rows.
  __device__ __forceinline__ void store_output(const Item& item, const float (&out)[32][4]) const {
    std::byte* to[4];  // rows lane / 8 and every fourth from there
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = lane_.warp_row + 4 * i + lane_.index / 8;
      const cuda::RowPlace place = place_of(p_, item, min(row, item.rows - 1));
      to[i] = row < item.rows
                  ? cuda::out_row(p_, place) + 2 * kGroup * kHalfDims + 16 * (lane_.index % 8)
                  : nullptr;
    }
#pragma unroll
    for (int block = 0; block < kHalfBlocks; ++block) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float(&low)[4] = out[8 * block + 2 * i];
        const float(&high)[4] = out[8 * block + 2 * i + 1];
        const std::uint32_t words[4] = {
            cuda::pack2<T>(low[0], low[1]), cuda::pack2<T>(low[2], low[3]),
            cuda::pack2<T>(high[0], high[1]), cuda::pack2<T>(high[2], high[3])};
        store_matrices(lane_.matrices(shared_.weights(kGroup), i), words);
      }
      __syncwarp();
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = lane_.warp_row + 4 * i + lane_.index / 8;
        const auto* const from = reinterpret_cast<const uint4*>(
            shared_.bytes + Shared::kWeightsAt + kGroup * kBlockBytes +
            row * cuda::kSwizzledRowBytes + 16 * (lane_.index % 8 ^ (row & 7)));
        if (to[i] != nullptr) {
          *reinterpret_cast<uint4*>(to[i] + block * cuda::kSwizzledRowBytes) = *from;
        }
      }
      __syncwarp();
    }
  }
  /// Each lane its own pairs of columns.
  __device__ __forceinline__ void store_fp8(const Item& item, const float (&out)[32][4]) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (lane_.row(i) >= item.rows) continue;
      const cuda::RowPlace place = place_of(p_, item, lane_.row(i));
#pragma unroll
      for (int n = 0; n < 32; ++n) {
        cuda::store_out<T>(p_, place, kGroup * kHalfDims + 8 * n + 2 * (lane_.index % 4),
                           float2{out[n][2 * i], out[n][2 * i + 1]});
      }
    }
  }
  /// Each lane its own pairs of columns: four lanes fill a sector of 32 bytes.
  __device__ __forceinline__ void store_partial(const Item& item, const float (&out)[32][4]) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (lane_.row(i) >= item.rows) continue;
      float* const to = p_.partial_out + partial_row(item, lane_.row(i)) * kDv +
                        kGroup * kHalfDims + 2 * (lane_.index % 4);
#pragma unroll
      for (int n = 0; n < 32; ++n) {
        *reinterpret_cast<float2*>(to + 8 * n) = float2{out[n][2 * i], out[n][2 * i + 1]};
      }
    }
  }

  const Params& p_;
  Shared shared_;
  Lane lane_;
};

}  // namespace attnbench::mla::hopper
