// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/mla/few_operands.cuh"
#include "backends/mla/few_queries.cuh"

namespace attnbench::mla::few {

/// Logits of a warp's keys of a tile, before their scale: of the lane's rows, and of each eight
/// keys the two from 2 (lane % 4) on.
template <class T, class Kv>
class Logits {
  using Tile = Layout<Kv>;
  using Fp8 = typename Tile::Fp8;
  static constexpr int kEights = Tile::kWarpKeys / 8;
  static constexpr int kChains = 4 / kEights;  ///< sums that run side by side

 public:
  using Values = float[kEights][4];

  /// Of 64 columns that are multiplied alike.
  static constexpr int kBlocks = kDk / 64 - (Tile::kScaled ? 1 : 0);

  __device__ __forceinline__ Logits(Shared<Kv> shared, const Queries<T, Kv>& queries, int stage)
      : shared_(shared), queries_(queries), stage_(stage) {}

  /// Adds the products of 64 columns; to be called for each block in turn.
  __device__ __forceinline__ void add(int block) {
    if constexpr (Tile::kWide) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const uint4 eight = chunk(0, 8 * block + 4 * half + thread_.lane % 4);
        const int step = 4 * block + 2 * half;
        cuda::mma_m16n8k16<T>(sums_[0][2 * half], queries_.operand(step), eight.x, eight.y);
        cuda::mma_m16n8k16<T>(sums_[0][2 * half + 1], queries_.operand(step + 1), eight.z, eight.w);
      }
    } else {
      uint4 sixteen[kEights];
#pragma unroll
      for (int n = 0; n < kEights; ++n) sixteen[n] = chunk(n, 4 * block + thread_.lane % 4);
#pragma unroll
      for (int step = 0; step < 4; ++step) {
#pragma unroll
        for (int n = 0; n < kEights; ++n) {
          const std::uint32_t four = word(sixteen[n], step);
          const std::uint32_t odd =
              block < kDv / 64 ? moved_to_f16<Fp8>(four) : converted<Fp8>(four, true);
          cuda::mma_m16n8k16<__half>(sums_[n][step % kChains], queries_.operand(4 * block + step),
                                     converted<Fp8>(four, false), odd);
        }
      }
      if constexpr (Tile::kScaled) {
        if (block % 2 == 1) scale(block / 2);
      }
    }
  }
  /// After the last block.
  __device__ __forceinline__ void finish(Values& s) {
#pragma unroll
    for (int n = 0; n < kEights; ++n) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        s[n][j] = (Tile::kScaled ? scaled_[n][j] : total(n, j)) * queries_.factor(j / 2);
      }
    }
    if constexpr (Tile::kScaled) add_rope(s);
  }

 private:
  /// 16 bytes of the lane's n-th key of this warp's.
  [[nodiscard]] __device__ __forceinline__ uint4 chunk(int n, int which) const {
    return shared_.chunk(stage_, Tile::kWarpKeys * thread_.warp + 8 * n + thread_.lane / 4, which);
  }
  __device__ __forceinline__ static std::uint32_t word(const uint4& four, int step) {
    return step == 0 ? four.x : step == 1 ? four.y : step == 2 ? four.z : four.w;
  }
  [[nodiscard]] __device__ __forceinline__ float total(int n, int j) const {
    float sum = sums_[n][0][j];
#pragma unroll
    for (int chain = 1; chain < kChains; ++chain) sum += sums_[n][chain][j];
    return sum;
  }
  /// Moves sums of 128 columns, times their keys' scales, to scaled_.
  __device__ __forceinline__ void scale(int block) {
#pragma unroll
    for (int n = 0; n < kEights; ++n) {
      const int row = Tile::kWarpKeys * thread_.warp + 8 * n + 2 * (thread_.lane % 4);
      const float scales[2] = {shared_.scale(stage_, row, block),
                               shared_.scale(stage_, row + 1, block)};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        scaled_[n][j] = fmaf(scales[j % 2], total(n, j), scaled_[n][j]);
#pragma unroll
        for (auto& chain : sums_[n]) chain[j] = 0;
      }
    }
  }
  /// Adds the rope columns, in bf16 both, of which a lane has 16 in a row.
  __device__ __forceinline__ void add_rope(Values& s) const {
#pragma unroll
    for (int n = 0; n < kEights; ++n) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const uint4 eight = chunk(n, kScaleChunk + 1 + 2 * (thread_.lane % 4) + half);
        const int step = kDv / 16 + 2 * half;
        cuda::mma_m16n8k16<T>(s[n], queries_.operand(step), eight.x, eight.y);
        cuda::mma_m16n8k16<T>(s[n], queries_.operand(step + 1), eight.z, eight.w);
      }
    }
  }

  Shared<Kv> shared_;
  const Queries<T, Kv>& queries_;
  int stage_;
  Thread thread_;
  float sums_[kEights][kChains][4] = {};
  Values scaled_ = {};
};

}  // namespace attnbench::mla::few
