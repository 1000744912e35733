// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/mla/few_operands.cuh"
#include "backends/mla/rows.cuh"
#include "backends/splitkv/store.cuh"

namespace attnbench::mla::few {

/// Sums of weights times values of the item's rows and this warp's columns.
template <class T, class Kv>
class Output {
  using Tile = Layout<Kv>;
  using Product = typename Tile::Product;

 public:
  /// Of weights times values of a tile, 16 keys each.
  static constexpr int kSteps = Tile::kTileKeys / 16;

  __device__ __forceinline__ explicit Output(Shared<Kv> shared) : shared_(shared) {}

  /// Row i of the lane's.
  __device__ __forceinline__ void multiply(int i, float by) {
    if (by == 1.0f) return;
#pragma unroll
    for (auto& columns : out_) columns[2 * i] *= by, columns[2 * i + 1] *= by;
  }

  __device__ __forceinline__ void add(int stage, int step) {
    constexpr int kChunks = kWarpDims * (Tile::kWide ? 2 : 1) / 16;
    const int key = 16 * step, lane = thread_.lane;
    std::uint32_t a[4];
    load_weights(a, stage, key);
#pragma unroll
    for (int chunk = 0; chunk < kChunks; chunk += 2) {
      std::uint32_t b[4];
      cuda::ldmatrix_x4_trans(
          b, shared_.tile(stage) +
                 Tile::place(key + lane % 16, kChunks * thread_.warp + chunk + lane / 16));
      if constexpr (Tile::kWide) {
        cuda::mma_m16n8k16<Product>(out_[chunk], a, b[0], b[1]);
        cuda::mma_m16n8k16<Product>(out_[chunk + 1], a, b[2], b[3]);
      } else {
        // A 16-bit column is two: the even ones make one accumulator, the odd ones the next.
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          const bool odd = n % 2 == 1;
          cuda::mma_m16n8k16<Product>(out_[2 * chunk + n], a, value_pair<Kv>(b[n / 2 * 2], odd),
                                      value_pair<Kv>(b[n / 2 * 2 + 1], odd));
        }
      }
    }
  }

  /// Stores row i of the lane's, times `inverse`, and its LSE in base 2: as output, or as a piece
  /// that waits for the merge.
  __device__ __forceinline__ void store(const Params& p, const Item& item, int i, float inverse,
                                        float lse) const {
    const int row = thread_.row(i);
    const bool first = thread_.warp == 0 && thread_.lane % 4 == 0;
    if (item.splits > 1) {
      const std::int64_t piece = static_cast<std::int64_t>(item.partial) * p.partial_rows + row;
      if (first) p.partial_lse[piece] = lse;
      for_columns(i, inverse, [&](int d, auto columns) {
        *reinterpret_cast<decltype(columns)*>(p.partial_out + piece * kDv + d) = columns;
      });
      return;
    }
    const cuda::RowPlace place = place_of(p, item, row);
    cuda::LseMerge merge = splitkv::with_sink(p, item, row);
    merge.add(lse);
    if (first) cuda::store_lse(p, place, merge.lse());
    const float by = inverse * merge.weight(lse) * cuda::out_factor(p, item.request, item.kv_head);
    for_columns(i, by, [&](int d, auto columns) { cuda::store_out<T>(p, place, d, columns); });
  }

 private:
  /// Of 16 keys, as operand A; times the scales of their values in this warp's columns.
  __device__ __forceinline__ void load_weights(std::uint32_t (&a)[4], int stage, int key) const {
    const int lane = thread_.lane;
    if constexpr (Tile::kScaled) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int first = key + 8 * half + 2 * (lane % 4);
        const int block = kWarpDims * thread_.warp / kScaledDims;
        const float2 scales{shared_.scale(stage, first, block),
                            shared_.scale(stage, first + 1, block)};
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const float2 two = *shared_.template weights<float2>(thread_.row(i), first);
          a[2 * half + i] = cuda::pack2<Product>(two.x * scales.x, two.y * scales.y);
        }
      }
    } else {
      cuda::ldmatrix_x4(a, shared_.address + Tile::kWeightsAt + lane % 16 * Tile::kWeightBytes +
                               2 * key + lane / 16 * 16);
    }
  }
  /// Calls use(first, columns) for the lane's columns of row i, times `by`: of each 16 four in a
  /// row; of latents with 16 bits, of each 8 two.
  template <class Use>
  __device__ __forceinline__ void for_columns(int i, float by, const Use& use) const {
    const int first = kWarpDims * thread_.warp, four = thread_.lane % 4;
    if constexpr (Tile::kWide) {
#pragma unroll
      for (int n = 0; n < kWarpDims / 8; ++n) {
        use(first + 8 * n + 2 * four, float2{out_[n][2 * i] * by, out_[n][2 * i + 1] * by});
      }
    } else {
      const float even_by = Tile::kScaled ? by : by / kMovedScale<typename Tile::Fp8>;
#pragma unroll
      for (int n = 0; n < kWarpDims / 8; n += 2) {
        const float(&even)[4] = out_[n];
        const float(&odd)[4] = out_[n + 1];
        use(first + 8 * n + 4 * four, float4{even[2 * i] * even_by, odd[2 * i] * by,
                                             even[2 * i + 1] * even_by, odd[2 * i + 1] * by});
      }
    }
  }

  Shared<Kv> shared_;
  Thread thread_;
  float out_[kWarpDims / 8][4] = {};
};

}  // namespace attnbench::mla::few
