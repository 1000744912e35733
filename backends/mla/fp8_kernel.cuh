// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/mma_products.cuh"
#include "backends/common/tiles/store_tile.cuh"
#include "backends/mla/dispatch.cuh"
#include "backends/mla/fp8_layout.cuh"
#include "backends/mla/rows.cuh"

namespace attnbench::mla::fp8 {

/// Weights are relative to 2^-15 of the one of the highest logit: in f16, whose largest number is
/// just below 2^16, one of 2^-29 of the highest is as exact as that.
inline constexpr float kWeightBits = 15;

/// What a block makes of one item. T: activations; Kv: latents.
template <class T, class Kv>
class Attention {
  using Tile = Layout<Kv>;
  using Logits = float[kWarpKeys / 8][4];
  using Sums = float[kWarpKeys / 8][2][4];
  using Pair = std::conditional_t<Tile::kScaled, float2, std::uint32_t>;  ///< of weights
  /// What weights and values are multiplied as. Scales can be far from 1, which f16 has no room
  /// for.
  using Product = std::conditional_t<Tile::kScaled, __nv_bfloat16, __half>;

 public:
  __device__ __forceinline__ Attention(const Params& p, const Item& item, std::byte* shared)
      : p_(p),
        item_(item),
        shared_(shared),
        address_(cuda::shared_address(shared)),
        queries_(p, item),
        rows_(tiles::lane_rows(p, tiles::item_at(p, &item), 0)) {}

  /// Keys from `first_key` on, which lie in `stage`.
  __device__ __forceinline__ void attend(int stage, int first_key) {
    Logits s;
    multiply_qk(s, shared_ + stage * Tile::kTileBytes);
    const int own_key = kWarpKeys * thread_.warp;
    tiles::finish_logits<kWarpKeys>(s, first_key + own_key, rows_, p_);
    share_highest(s);
    __syncthreads();
    weigh(s, own_key);
    __syncthreads();
    multiply_pv(stage * Tile::kTileBytes);
  }

  /// Normalises and stores, as output or as a piece that waits for the merge.
  __device__ __forceinline__ void finish() {
    auto* const sums = reinterpret_cast<float*>(shared_ + Tile::kHighestAt);  // [rows, warps]
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      sum_[i] += __shfl_xor_sync(~0u, sum_[i], 1);
      sum_[i] += __shfl_xor_sync(~0u, sum_[i], 2);
      if (thread_.lane % 4 == 0) sums[thread_.row(i) * kWarps + thread_.warp] = sum_[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (thread_.row(i) >= item_.rows) continue;
      float total = 0;
#pragma unroll
      for (int warp = 0; warp < kWarps; ++warp) total += sums[thread_.row(i) * kWarps + warp];
      const float lse = total > 0 ? highest_[i] - kWeightBits + log2f(total) : -INFINITY;
      store(i, total > 0 ? 1.0f / total : 0.0f, lse);
    }
  }

 private:
  /// A lane's word `step` of 16 bytes.
  __device__ __forceinline__ static std::uint32_t word(const uint4& four, int step) {
    return step == 0 ? four.x : step == 1 ? four.y : step == 2 ? four.z : four.w;
  }
  /// 16 bytes of the lane's key n of this warp's.
  __device__ __forceinline__ uint4 chunk(const std::byte* tile, int n, int which) const {
    const int row = kWarpKeys * thread_.warp + 8 * n + thread_.lane / 4;
    return *reinterpret_cast<const uint4*>(tile + Tile::place(row, which));
  }
  /// Of a row whose columns [128 block, 128 block + 128) share it.
  __device__ __forceinline__ static float scale_of(const std::byte* tile, int row, int block) {
    return *reinterpret_cast<const float*>(tile + Tile::place(row, kLatentChunks) + 4 * block);
  }

  /// Logits but for their scale: of the lane's rows, and of each eight of the warp's keys the two
  /// from 2 (lane % 4) on.
  __device__ __forceinline__ void multiply_qk(Logits& s, const std::byte* tile) const {
    constexpr int kBlocks = kDk / 64 - (Tile::kScaled ? 1 : 0);
    Sums sums = {};
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      add_qk(sums, tile, block);
      if constexpr (Tile::kScaled) {
        if (block % 2 == 1) add_scaled(s, sums, tile, block / 2);
      }
    }
#pragma unroll
    for (int n = 0; n < kWarpKeys / 8; ++n) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if constexpr (!Tile::kScaled) s[n][j] = sums[n][0][j] + sums[n][1][j];
        s[n][j] *= queries_.factor(j / 2);
      }
    }
    if constexpr (Tile::kScaled) add_rope(s, tile);
  }
  /// Of 64 columns in fp8. Sums of every other step run side by side.
  __device__ __forceinline__ void add_qk(Sums& sums, const std::byte* tile, int block) const {
    uint4 sixteen[kWarpKeys / 8];
#pragma unroll
    for (int n = 0; n < kWarpKeys / 8; ++n) {
      sixteen[n] = chunk(tile, n, 4 * block + thread_.lane % 4);
    }
#pragma unroll
    for (int step = 0; step < 4; ++step) {
#pragma unroll
      for (int n = 0; n < kWarpKeys / 8; ++n) {
        const std::uint32_t four = word(sixteen[n], step);
        cuda::mma_m16n8k16<__half>(sums[n][step % 2], queries_.operand(4 * block + step),
                                   cuda::fp8x2_to_f16x2<typename Tile::Fp8>(four),
                                   cuda::fp8x2_to_f16x2<typename Tile::Fp8>(four >> 16));
      }
    }
  }
  /// Adds sums of 128 columns, times their keys' scales, and starts new ones.
  __device__ __forceinline__ void add_scaled(Logits& s, Sums& sums, const std::byte* tile,
                                             int block) const {
#pragma unroll
    for (int n = 0; n < kWarpKeys / 8; ++n) {
      const int row = kWarpKeys * thread_.warp + 8 * n + 2 * (thread_.lane % 4);
      const float scales[2] = {scale_of(tile, row, block), scale_of(tile, row + 1, block)};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float sum = sums[n][0][j] + sums[n][1][j];
        s[n][j] = block == 0 ? scales[j % 2] * sum : fmaf(scales[j % 2], sum, s[n][j]);
        sums[n][0][j] = sums[n][1][j] = 0;
      }
    }
  }
  /// Adds the rope columns, in bf16 both, of which a lane has 16 in a row.
  __device__ __forceinline__ void add_rope(Logits& s, const std::byte* tile) const {
#pragma unroll
    for (int n = 0; n < kWarpKeys / 8; ++n) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const uint4 eight = chunk(tile, n, kLatentChunks + 1 + 2 * (thread_.lane % 4) + half);
        const auto& first = queries_.operand(kDv / 16 + 2 * half);
        const auto& second = queries_.operand(kDv / 16 + 2 * half + 1);
        cuda::mma_m16n8k16<__nv_bfloat16>(s[n], first, eight.x, eight.y);
        cuda::mma_m16n8k16<__nv_bfloat16>(s[n], second, eight.z, eight.w);
      }
    }
  }

  __device__ __forceinline__ void share_highest(const Logits& s) const {
    auto* const shared = reinterpret_cast<float*>(shared_ + Tile::kHighestAt);  // [rows, warps]
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float most = -INFINITY;
#pragma unroll
      for (const auto& columns : s) most = fmaxf(most, fmaxf(columns[2 * i], columns[2 * i + 1]));
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
      if (thread_.lane % 4 == 0) shared[thread_.row(i) * kWarps + thread_.warp] = most;
    }
  }
  /// Logits to weights for all warps; rescales what was summed before.
  __device__ __forceinline__ void weigh(const Logits& s, int own_key) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const auto* const eight = reinterpret_cast<const float4*>(
          shared_ + Tile::kHighestAt + thread_.row(i) * kWarps * static_cast<int>(sizeof(float)));
      const float4 a = eight[0], b = eight[1];
      const float most = fmaxf(highest_[i], fmaxf(fmaxf(fmaxf(a.x, a.y), fmaxf(a.z, a.w)),
                                                  fmaxf(fmaxf(b.x, b.y), fmaxf(b.z, b.w))));
      const float zero = most == -INFINITY ? 0.0f : most;  // no key seen yet: weights are 0
      const float change = cuda::exp2_approx(highest_[i] - zero);
      highest_[i] = most;
      sum_[i] *= change;
      if (change != 1.0f) {
#pragma unroll
        for (auto& columns : out_) columns[2 * i] *= change, columns[2 * i + 1] *= change;
      }
      auto* const weights = reinterpret_cast<Pair*>(shared_ + Tile::kWeightsAt +
                                                    thread_.row(i) * Tile::kWeightBytes) +
                            own_key / 2;
#pragma unroll
      for (int n = 0; n < kWarpKeys / 8; ++n) {
        const float low = cuda::exp2_approx(s[n][2 * i] - (zero - kWeightBits));
        const float high = cuda::exp2_approx(s[n][2 * i + 1] - (zero - kWeightBits));
        sum_[i] += low + high;
        if constexpr (Tile::kScaled) {
          weights[4 * n + thread_.lane % 4] = {low, high};
        } else {
          weights[4 * n + thread_.lane % 4] = cuda::pack2<__half>(low, high);
        }
      }
    }
  }
  /// out += weights v of this warp's columns. A 16-bit column is two numbers: the even ones make
  /// one accumulator, the odd ones the next.
  __device__ __forceinline__ void multiply_pv(int tile_at) {
    const int lane = thread_.lane;
#pragma unroll
    for (int keys = 0; keys < kTileKeys; keys += 16) {
      std::uint32_t a[4];
      load_weights(a, shared_ + tile_at, keys);
#pragma unroll
      for (int chunk = 0; chunk < kWarpDims / 16; chunk += 2) {
        std::uint32_t b[4];
        cuda::ldmatrix_x4_trans(b, address_ + tile_at +
                                       Tile::place(keys + lane % 16, kWarpDims / 16 * thread_.warp +
                                                                         chunk + lane / 16));
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          const auto column = [&](std::uint32_t pairs) {
            return cuda::widen_fp8x2<Product, typename Tile::Fp8>(
                cuda::every_other_byte(pairs, n % 2 == 1));
          };
          cuda::mma_m16n8k16<Product>(out_[2 * chunk + n], a, column(b[n / 2 * 2]),
                                      column(b[n / 2 * 2 + 1]));
        }
      }
    }
  }
  /// Of 16 keys, as operand A; times the scales of their values in this warp's columns.
  __device__ __forceinline__ void load_weights(std::uint32_t (&a)[4], const std::byte* tile,
                                               int keys) const {
    const int lane = thread_.lane;
    if constexpr (Tile::kScaled) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int key = keys + 8 * half + 2 * (lane % 4);
        const int block = kWarpDims * thread_.warp / kScaledDims;
        const float2 scales{scale_of(tile, key, block), scale_of(tile, key + 1, block)};
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const float2 two = *reinterpret_cast<const float2*>(
              shared_ + Tile::kWeightsAt + thread_.row(i) * Tile::kWeightBytes + 4 * key);
          a[2 * half + i] = cuda::pack2<Product>(two.x * scales.x, two.y * scales.y);
        }
      }
    } else {
      cuda::ldmatrix_x4(a, address_ + Tile::kWeightsAt + lane % 16 * Tile::kWeightBytes + 2 * keys +
                               lane / 16 * 16);
    }
  }

  /// The lane's columns of row i, four in a row of each 16.
  __device__ __forceinline__ void store(int i, float inverse, float lse) const {
    const int row = thread_.row(i);
    const bool whole = item_.splits <= 1;
    const std::int64_t piece = static_cast<std::int64_t>(item_.partial) * p_.partial_rows + row;
    const cuda::RowPlace place = place_of(p_, item_, row);
    cuda::LseMerge merge = tiles::with_sink(p_, item_, row);
    merge.add(lse);
    const float factor =
        whole ? inverse * merge.weight(lse) * cuda::out_factor(p_, item_.request, item_.kv_head)
              : inverse;
#pragma unroll
    for (int chunk = 0; chunk < kWarpDims / 16; ++chunk) {
      const float(&even)[4] = out_[2 * chunk];
      const float(&odd)[4] = out_[2 * chunk + 1];
      const float4 four{even[2 * i] * factor, odd[2 * i] * factor, even[2 * i + 1] * factor,
                        odd[2 * i + 1] * factor};
      const int d = kWarpDims * thread_.warp + 16 * chunk + 4 * (thread_.lane % 4);
      if (whole) {
        cuda::store_out<T>(p_, place, d, four);
        if (d == 0) cuda::store_lse(p_, place, p_.sink_in_lse ? merge.lse() : lse);
      } else {
        *reinterpret_cast<float4*>(p_.partial_out + piece * kDv + d) = four;
        if (d == 0) p_.partial_lse[piece] = lse;
      }
    }
  }

  const Params& p_;
  const Item& item_;
  std::byte* shared_;
  std::uint32_t address_;  ///< the same place
  Thread thread_;
  Queries<T, Kv> queries_;
  tiles::LaneRows rows_;
  float out_[kWarpDims / 8][4] = {};
  float highest_[2] = {-INFINITY, -INFINITY};  ///< log2 domain
  float sum_[2] = {0, 0};                      ///< of this lane's weights
};

/// A block for each part of the work list.
template <class T, class Kv>
__global__ void __launch_bounds__(kThreads, 1)
    fp8_kernel([[maybe_unused]] const __grid_constant__ Params p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(128) std::byte shared[];
  const Item* next = p.items + p.part_begin[blockIdx.x];
  const Item* const end = p.items + p.part_begin[blockIdx.x + 1];
  Copies<Kv> copies(p, next, end, cuda::shared_address(shared));
#pragma unroll
  for (int ahead = 0; ahead < Layout<Kv>::kStages - 1; ++ahead) copies.start();
  int stage = 0;
  for (; next != end; ++next) {
    Attention<T, Kv> attention(p, *next, shared);
    const Keys keys(p, next);
    const int count = keys.tiles(), first_key = keys.begin;
    for (int tile = 0; tile < count; ++tile) {
      cuda::cp_async_wait<Layout<Kv>::kStages - 2>();
      __syncthreads();  // this tile is there, and the one before is not read any more
      copies.start();
      attention.attend(stage, first_key + tile * kTileKeys);
      stage = stage + 1 == Layout<Kv>::kStages ? 0 : stage + 1;
    }
    attention.finish();
  }
  cuda::cp_async_wait<0>();
  cuda::await_previous();  // of a block without items
#endif
}

}  // namespace attnbench::mla::fp8

namespace attnbench::mla {

template <class T, class Kv>
CompiledKernel find_fp8_kernel() {
  return {fp8::fp8_kernel<T, Kv>, fp8::kThreads, fp8::Layout<Kv>::kSharedBytes};
}

}  // namespace attnbench::mla
