// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/mla/few_copies.cuh"
#include "backends/mla/few_logits.cuh"
#include "backends/mla/few_output.cuh"

namespace attnbench::mla::few {

/// What a block makes of one item, with an online softmax in base 2 (Milakov and Gimelshein, 2018).
/// T: activations; Kv: latents.
template <class T, class Kv>
class Attention {
  using Tile = Layout<Kv>;
  using Product = typename Tile::Product;
  static constexpr int kWarpKeys = Tile::kWarpKeys;
  /// Weights are relative to 2^-kWeightBits of the one of the highest logit: in f16, whose largest
  /// number is just below 2^16, one of 2^-29 of the highest is as exact as that.
  static constexpr float kWeightBits = std::is_same_v<Product, __half> ? 15 : 0;

 public:
  __device__ __forceinline__ Attention(const Params& p, const Item& item, Shared<Kv> shared)
      : p_(p),
        item_(item),
        shared_(shared),
        queries_(p, item),
        rows_(splitkv::lane_rows(p, item, 0)),
        out_(shared) {}

  /// Logits of the item's first tile, which lies in `stage`; shows the other warps the highest.
  __device__ __forceinline__ void begin(int stage) {
    Logits<T, Kv> logits(shared_, queries_, stage);
#pragma unroll
    for (int block = 0; block < logits.kBlocks; ++block) logits.add(block);
    finish_logits(logits, item_.key_begin);
  }
  /// Logits to weights, which it shows the other warps; rescales what was summed before.
  __device__ __forceinline__ void weigh() {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const auto* const eight = reinterpret_cast<const float4*>(shared_.of_warps(thread_.row(i)));
      const float4 a = eight[0], b = eight[1];
      const float most = fmaxf(highest_[i], fmaxf(fmaxf(fmaxf(a.x, a.y), fmaxf(a.z, a.w)),
                                                  fmaxf(fmaxf(b.x, b.y), fmaxf(b.z, b.w))));
      const float zero = most == -INFINITY ? 0.0f : most;  // no key seen yet: weights are 0
      const float change = cuda::exp2_approx(highest_[i] - zero);
      highest_[i] = most;
      sum_[i] *= change;
      out_.multiply(i, change);
      using Pair = std::conditional_t<Tile::kScaled, float2, std::uint32_t>;
      Pair* const weights = shared_.template weights<Pair>(
          thread_.row(i), kWarpKeys * thread_.warp + 2 * (thread_.lane % 4));
#pragma unroll
      for (int n = 0; n < kWarpKeys / 8; ++n) {
        const float low = cuda::exp2_approx(s_[n][2 * i] - (zero - kWeightBits));
        const float high = cuda::exp2_approx(s_[n][2 * i + 1] - (zero - kWeightBits));
        sum_[i] += low + high;
        if constexpr (Tile::kScaled) {
          weights[4 * n] = {low, high};
        } else {
          weights[4 * n] = cuda::pack2<Product>(low, high);
        }
      }
    }
  }
  /// Adds what the tile in `stage` gives the output, and meanwhile begins with the next one, whose
  /// keys are those from `next_key` on.
  __device__ __forceinline__ void go_on(int stage, int next_stage, int next_key) {
    Logits<T, Kv> logits(shared_, queries_, next_stage);
    constexpr int kBlocks = Logits<T, Kv>::kBlocks, kSteps = Output<T, Kv>::kSteps;
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      logits.add(block);
#pragma unroll
      for (int step = block * kSteps / kBlocks; step < (block + 1) * kSteps / kBlocks; ++step) {
        out_.add(stage, step);
      }
    }
    finish_logits(logits, next_key);
  }
  /// Adds what the last tile gives the output.
  __device__ __forceinline__ void end(int stage) {
#pragma unroll
    for (int step = 0; step < out_.kSteps; ++step) out_.add(stage, step);
  }
  /// Normalises and stores.
  __device__ __forceinline__ void finish() {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      sum_[i] += __shfl_xor_sync(~0u, sum_[i], 1);
      sum_[i] += __shfl_xor_sync(~0u, sum_[i], 2);
      show(i, sum_[i]);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (thread_.row(i) >= item_.rows) continue;
      float total = 0;
#pragma unroll
      for (int warp = 0; warp < kWarps; ++warp) total += shared_.of_warps(thread_.row(i))[warp];
      const float lse = total > 0 ? highest_[i] - kWeightBits + log2f(total) : -INFINITY;
      out_.store(p_, item_, i, total > 0 ? 1.0f / total : 0.0f, lse);
    }
  }

 private:
  __device__ __forceinline__ void finish_logits(Logits<T, Kv>& logits, int first_key) {
    logits.finish(s_);
    splitkv::finish_logits<kWarpKeys>(s_, first_key + kWarpKeys * thread_.warp, rows_, p_);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float most = -INFINITY;
#pragma unroll
      for (const auto& columns : s_) most = fmaxf(most, fmaxf(columns[2 * i], columns[2 * i + 1]));
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
      show(i, most);
    }
  }
  /// A number of this warp for row i of the lane's.
  __device__ __forceinline__ void show(int i, float value) const {
    if (thread_.lane % 4 == 0) shared_.of_warps(thread_.row(i))[thread_.warp] = value;
  }

  const Params& p_;
  const Item& item_;
  Shared<Kv> shared_;
  Thread thread_;
  Queries<T, Kv> queries_;
  splitkv::LaneRows rows_;
  typename Logits<T, Kv>::Values s_;  ///< log2 domain
  Output<T, Kv> out_;
  float highest_[2] = {-INFINITY, -INFINITY};  ///< log2 domain
  float sum_[2] = {0, 0};                      ///< of this lane's weights
};

/// A block for each part of the work list.
template <class T, class Kv>
__global__ void __launch_bounds__(kThreads, 1)
    few_kernel([[maybe_unused]] const __grid_constant__ Params p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Tile = Layout<Kv>;
  extern __shared__ __align__(128) std::byte tiles[];
  const Shared<Kv> shared(tiles);
  const Item* next = p.items + p.part_begin[blockIdx.x];
  const Item* const end = p.items + p.part_begin[blockIdx.x + 1];
  Copies<Kv> copies(p, next, end, shared);
#pragma unroll
  for (int ahead = 0; ahead < Tile::kStages - 1; ++ahead) copies.start();
  int stage = 0;
  for (; next != end; ++next) {
    Attention<T, Kv> attention(p, *next, shared);
    const int count = Tile::tiles_of(*next), first_key = next->key_begin;
    cuda::cp_async_wait<Tile::kStages - 2>();
    __syncthreads();  // the item's first tile is there
    attention.begin(stage);
    for (int tile = 1; tile <= count; ++tile) {
      __syncthreads();  // all highest logits are there, and the tile before is not read any more
      copies.start();
      attention.weigh();
      cuda::cp_async_wait<Tile::kStages - 2>();
      __syncthreads();  // all weights are there, and so is the next tile
      const int next_stage = stage + 1 == Tile::kStages ? 0 : stage + 1;
      if (tile < count) {
        attention.go_on(stage, next_stage, first_key + tile * Tile::kTileKeys);
      } else {
        attention.end(stage);
      }
      stage = next_stage;
    }
    attention.finish();
  }
  cuda::cp_async_wait<0>();
#endif
}

}  // namespace attnbench::mla::few
