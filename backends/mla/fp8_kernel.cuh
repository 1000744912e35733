// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/mma_products.cuh"
#include "backends/mla/fp8_copies.cuh"
#include "backends/mla/fp8_queries.cuh"
#include "backends/mla/rows.cuh"
#include "backends/splitkv/store.cuh"

namespace attnbench::mla::fp8 {

/// Weights are relative to 2^-15 of the one of the highest logit: in f16, whose largest number is
/// just below 2^16, one of 2^-29 of the highest is as exact as that.
inline constexpr float kWeightBits = 15;

/// What a block makes of one item. T: activations; Kv: latents.
template <class T, class Kv>
class Attention {
 public:
  __device__ __forceinline__ Attention(const Params& p, const Item& item, std::byte* shared)
      : p_(p),
        item_(item),
        shared_(shared),
        address_(cuda::shared_address(shared)),
        queries_(p, item),
        rows_(splitkv::lane_rows(p, item, 0)) {}

  /// Keys from `first_key` on, which lie in `stage`.
  __device__ __forceinline__ void attend(int stage, int first_key) {
    float s[kWarpKeys / 8][4];
    multiply_qk(s, shared_ + stage * kTileBytes);
    const int own_key = kWarpKeys * thread_.warp;
    splitkv::finish_logits<kWarpKeys>(s, first_key + own_key, rows_, p_);
    share_highest(s);
    __syncthreads();
    weigh(s, own_key);
    __syncthreads();
    multiply_pv(address_ + stage * kTileBytes);
  }

  /// Normalises and stores, as output or as a piece that waits for the merge.
  __device__ __forceinline__ void finish() {
    auto* const sums = reinterpret_cast<float*>(shared_ + kHighestAt);  // [rows, warps]
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
  /// Logits but for their scale: of the lane's rows, and of each eight of the warp's keys the two
  /// from 2 (lane % 4) on. Sums of every other step run side by side.
  __device__ __forceinline__ void multiply_qk(float (&s)[kWarpKeys / 8][4],
                                              const std::byte* tile) const {
    float sums[kWarpKeys / 8][2][4] = {};
#pragma unroll
    for (int block = 0; block < kDk / 64; ++block) {
      uint4 eights[kWarpKeys / 8];  // 16 numbers of a key
#pragma unroll
      for (int n = 0; n < kWarpKeys / 8; ++n) {
        const int row = kWarpKeys * thread_.warp + 8 * n + thread_.lane / 4;
        eights[n] =
            *reinterpret_cast<const uint4*>(tile + place(row, 4 * block + thread_.lane % 4));
      }
#pragma unroll
      for (int step = 0; step < 4; ++step) {
#pragma unroll
        for (int n = 0; n < kWarpKeys / 8; ++n) {
          const std::uint32_t four = step == 0   ? eights[n].x
                                     : step == 1 ? eights[n].y
                                     : step == 2 ? eights[n].z
                                                 : eights[n].w;
          cuda::mma_m16n8k16<__half>(sums[n][step % 2], queries_.operand(4 * block + step),
                                     widen<Kv>(four), widen<Kv>(four >> 16));
        }
      }
    }
#pragma unroll
    for (int n = 0; n < kWarpKeys / 8; ++n) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        s[n][j] = (sums[n][0][j] + sums[n][1][j]) * queries_.factor(j / 2);
      }
    }
  }

  __device__ __forceinline__ void share_highest(const float (&s)[kWarpKeys / 8][4]) const {
    auto* const shared = reinterpret_cast<float*>(shared_ + kHighestAt);  // [rows, warps]
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
  __device__ __forceinline__ void weigh(const float (&s)[kWarpKeys / 8][4], int own_key) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const auto* const eight = reinterpret_cast<const float4*>(
          shared_ + kHighestAt + thread_.row(i) * kWarps * static_cast<int>(sizeof(float)));
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
      auto* const weights = reinterpret_cast<std::uint32_t*>(
          shared_ + kWeightsAt + thread_.row(i) * kWeightBytes + 2 * own_key);
#pragma unroll
      for (int n = 0; n < kWarpKeys / 8; ++n) {
        const float low = cuda::exp2_approx(s[n][2 * i] - (zero - kWeightBits));
        const float high = cuda::exp2_approx(s[n][2 * i + 1] - (zero - kWeightBits));
        sum_[i] += low + high;
        weights[4 * n + thread_.lane % 4] = cuda::pack2<__half>(low, high);
      }
    }
  }
  /// out += weights v of this warp's columns. A 16-bit column is two numbers: the even ones make
  /// one accumulator, the odd ones the next.
  __device__ __forceinline__ void multiply_pv(std::uint32_t tile) {
    const int lane = thread_.lane;
#pragma unroll
    for (int keys = 0; keys < kTileKeys; keys += 16) {
      std::uint32_t a[4];
      cuda::ldmatrix_x4(
          a, address_ + kWeightsAt + lane % 16 * kWeightBytes + 2 * keys + lane / 16 * 16);
#pragma unroll
      for (int chunk = 0; chunk < kWarpDims / 16; chunk += 2) {
        std::uint32_t b[4];
        cuda::ldmatrix_x4_trans(
            b, tile + place(keys + lane % 16, kWarpDims / 16 * thread_.warp + chunk + lane / 16));
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          const auto column = [&](std::uint32_t pairs) {
            return widen<Kv>(cuda::every_other_byte(pairs, n % 2 == 1));
          };
          cuda::mma_m16n8k16<__half>(out_[2 * chunk + n], a, column(b[n / 2 * 2]),
                                     column(b[n / 2 * 2 + 1]));
        }
      }
    }
  }

  /// The lane's columns of row i, four in a row of each 16.
  __device__ __forceinline__ void store(int i, float inverse, float lse) const {
    const int row = thread_.row(i);
    const bool whole = item_.splits <= 1;
    const std::int64_t piece = static_cast<std::int64_t>(item_.partial) * p_.partial_rows + row;
    const cuda::RowPlace place = place_of(p_, item_, row);
    cuda::LseMerge merge = splitkv::with_sink(p_, item_, row);
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
        if (d == 0) cuda::store_lse(p_, place, merge.lse());
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
  Queries<T> queries_;
  splitkv::LaneRows rows_;
  float out_[kWarpDims / 8][4] = {};
  float highest_[2] = {-INFINITY, -INFINITY};  ///< log2 domain
  float sum_[2] = {0, 0};                      ///< of this lane's weights
};

/// A block for each part of the work list.
template <class T, class Kv>
__global__ void __launch_bounds__(kThreads, 1)
    fp8_kernel([[maybe_unused]] const __grid_constant__ Params p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(128) std::byte tiles[];
  const Item* next = p.items + p.part_begin[blockIdx.x];
  const Item* const end = p.items + p.part_begin[blockIdx.x + 1];
  Copies copies(p, next, end, cuda::shared_address(tiles));
#pragma unroll
  for (int ahead = 0; ahead < kStages - 1; ++ahead) copies.start();
  int stage = 0;
  for (; next != end; ++next) {
    const Item item = *next;
    Attention<T, Kv> attention(p, item, tiles);
    const int count = tiles_of(item);
    for (int tile = 0; tile < count; ++tile) {
      cuda::cp_async_wait<kStages - 2>();
      __syncthreads();  // this tile is there, and the one before is not read any more
      copies.start();
      attention.attend(stage, item.key_begin + tile * kTileKeys);
      stage = stage + 1 == kStages ? 0 : stage + 1;
    }
    attention.finish();
  }
  cuda::cp_async_wait<0>();
#endif
}

}  // namespace attnbench::mla::fp8
