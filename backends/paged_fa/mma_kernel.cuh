// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "backends/common/cuda/kernel_choice.cuh"
#include "backends/common/cuda/warp_results.cuh"
#include "backends/paged_fa/dispatch.cuh"
#include "backends/paged_fa/launch.h"
#include "backends/paged_fa/mma_tile.cuh"

namespace attnbench::paged_fa {

inline constexpr int kWarps = 4;
inline constexpr int kThreads = 32 * kWarps;
/// Keys that a block takes in one step; each warp gathers a quarter of them.
inline constexpr int kStepKeys = kGatherKeys * kWarps;
/// Two blocks of this much shared memory share a multiprocessor of sm_90.
inline constexpr int kHalfShared = 113 * 1024;

/// How a block's four warps share a tile. Few rows: all have the same 16, each other keys and a
/// ring of its own without any barrier until the end. Else each has rows of its own, and all share
/// the keys. kSpans: of prompts with spans.
template <class S_, TileKind kTile, bool kSpans_ = false>
struct MmaConfig {
  using S = S_;
  static constexpr bool kSpans = kSpans_;
  static constexpr bool kFew = kTile == TileKind::kFew;
  static constexpr bool kMany = kTile == TileKind::kMany;
  static constexpr int kRows = static_cast<int>(kTile);
  /// Two tiles of 16 rows per warp halve the shared memory that K and V are read from.
  static constexpr int kRowTiles = kMany ? 2 : 1;
  static constexpr int kQueryBytes = kMany ? kRows * S::kRowBytesQ : 0;
  static constexpr int kStageBytes = kStepKeys * (S::kRowBytesK + S::kRowBytesV);
  static constexpr int kFitting = (kHalfShared - kQueryBytes) / kStageBytes;
  static constexpr int kMost = kFew ? 6 : 3;
  static constexpr int kStages = kFitting < 2 ? 2 : kFitting > kMost ? kMost : kFitting;
  using Results = cuda::WarpResults<kWarps, kRows, S::kDv>;
  static constexpr int kMergeBytes = kFew ? Results::kBytes : 0;
  static constexpr int kRingBytes = kStages * kStageBytes + kQueryBytes;
  static constexpr int kSharedBytes = kRingBytes > kMergeBytes ? kRingBytes : kMergeBytes;
  /// Keys whose logits are in registers at once.
  static constexpr int kAttendKeys = kFew ? kGatherKeys : S::kDv > 128 ? 32 : kStepKeys;
};

/// Merges what the warps made of the same rows, and stores it.
template <class C>
__device__ __forceinline__ void store_few(const Params& p, const Item& item, int kv_head,
                                          const Accumulator<typename C::S, 1>& acc,
                                          std::byte* shared) {
  using S = typename C::S;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const typename C::Results results(shared);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int row = static_cast<int>(threadIdx.x % 32) / 4 + 8 * i;
    if (row >= item.rows) continue;
    float* const out = results.out(warp, row);
    acc.for_each_run(0, i, [&](int d, const auto& run) {
#pragma unroll
      for (float x : run) out[d++] = x;
    });
    if (threadIdx.x % 4 == 0) results.set(warp, row, acc.highest[0][i], acc.sum[0][i]);
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < item.rows * S::kDv / 4; i += kThreads) {
    const int row = i / (S::kDv / 4), d = 4 * (i % (S::kDv / 4));
    auto [top, total, values] = results.merged(row, d);
    const RowStore<typename S::T, S::kDv> store(p, item, kv_head, row, top, total);
    store.values(d, values);
    if (d == 0) store.lse();
  }
}

template <class C>
__device__ __forceinline__ void store_rows(const Params& p, const Item& item, int kv_head,
                                           int first_row,
                                           const Accumulator<typename C::S, C::kRowTiles>& acc) {
  using S = typename C::S;
#pragma unroll
  for (int r = 0; r < C::kRowTiles; ++r) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = first_row + 16 * r + static_cast<int>(threadIdx.x % 32) / 4 + 8 * i;
      if (row >= item.rows) continue;
      const RowStore<typename S::T, S::kDv> store(p, item, kv_head, row, acc.highest[r][i],
                                                  acc.sum[r][i]);
      acc.for_each_run(r, i, [&](int d, auto& run) { store.values(d, run); });
      if (threadIdx.x % 4 == 0) store.lse();
    }
  }
}

template <class C, class Queries>
__device__ __forceinline__ void attend_all(const Params& p, const Item& item, const float& scale,
                                           const PageGather<typename C::S>& gather,
                                           const Queries& q, std::uint32_t ring, int next_page,
                                           Accumulator<typename C::S, C::kRowTiles>& acc) {
  using S = typename C::S;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane_key =
      item.key_begin + warp * kGatherKeys + static_cast<int>(threadIdx.x % kGatherKeys);
  const int first_row = C::kFew ? 0 : 16 * C::kRowTiles * warp;
  const auto key = [&](int step) { return item.key_begin + step * kStepKeys; };
  int stage = 0, free = C::kStages - 1;
  for (int step = 0; key(step) < item.key_end; ++step) {
    cuda::cp_async_wait<C::kStages - 2>();
    if constexpr (C::kFew) {
      __syncwarp();
    } else {
      __syncthreads();
    }
    const int ahead = step + C::kStages - 1;
    if (key(ahead) < item.key_end) {
      const std::uint32_t to = ring + free * C::kStageBytes;
      gather.fetch_k(next_page, lane_key + ahead * kStepKeys,
                     to + warp * kGatherKeys * S::kRowBytesK);
      gather.fetch_v(next_page, lane_key + ahead * kStepKeys,
                     to + kStepKeys * S::kRowBytesK + warp * kGatherKeys * S::kRowBytesV);
    }
    cuda::cp_async_commit();
    next_page = gather.page(lane_key + (ahead + 1) * kStepKeys);
    const std::uint32_t k_tile = ring + stage * C::kStageBytes;
    const std::uint32_t v_tile = k_tile + kStepKeys * S::kRowBytesK;
    if (C::kFew || first_row < item.rows) {
      const int first = C::kFew ? warp * kGatherKeys : 0;
#pragma unroll
      for (int keys = 0; keys < (C::kFew ? kGatherKeys : kStepKeys); keys += C::kAttendKeys) {
        attend<S, C::kRowTiles, C::kAttendKeys, C::kSpans>(
            k_tile + (first + keys) * S::kRowBytesK, v_tile + (first + keys) * S::kRowBytesV,
            key(step) + first + keys, first_row, q, p, item, scale, acc);
      }
    }
    free = stage;
    stage = stage + 1 == C::kStages ? 0 : stage + 1;
  }
  acc.finish();
}

template <class C>
__global__ void __launch_bounds__(kThreads) mma_kernel(const __grid_constant__ Params p) {
  using S = typename C::S;
  extern __shared__ __align__(128) std::byte shared[];
  // A head's keys stay in the second-level cache while its prompt tiles pass; decodes instead read
  // neighbouring heads, which are neighbours in memory, at the same time.
  const auto block = static_cast<int>(blockIdx.x);
  const int kv_head = C::kMany ? block / p.num_items : block % p.heads_kv;
  __shared__ Item item;  // not in registers, of which the loop leaves none
  __shared__ float scale_of_item;
  if (threadIdx.x == 0) {
    item = p.items[C::kMany ? block % p.num_items : block / p.heads_kv];
    if constexpr (S::kFp8) {
      scale_of_item = p.scale * cuda::shared_scale(p, p.k_scales, item.sequence, kv_head);
    }
  }
  const float& scale = S::kFp8 ? scale_of_item : p.scale;  // of q.k
  __syncthreads();
  if (item.rows == 0) return;  // a CUDA graph's grid has room for the most work
  const int warp = static_cast<int>(threadIdx.x) / 32;
  Accumulator<S, C::kRowTiles> acc;
  {
    const int q_begin = p.cu_seqlens_q[item.sequence];  // travels along with the pages
    const PageGather<S> gather(p, item, kv_head);
    const std::uint32_t queries = cuda::shared_address(shared);
    const std::uint32_t ring = queries + C::kQueryBytes;
    const int lane_key =
        item.key_begin + warp * kGatherKeys + static_cast<int>(threadIdx.x % kGatherKeys);
    int pages[C::kStages];
#pragma unroll
    for (int s = 0; s < C::kStages; ++s) pages[s] = gather.page(lane_key + s * kStepKeys);
    if constexpr (C::kMany) SharedQueries<S>::fetch(p, item, kv_head, queries, C::kRows);
#pragma unroll
    for (int s = 0; s < C::kStages - 1; ++s) {
      if (item.key_begin + s * kStepKeys < item.key_end) {
        const std::uint32_t to = ring + s * C::kStageBytes;
        gather.fetch_k(pages[s], lane_key + s * kStepKeys, to + warp * kGatherKeys * S::kRowBytesK);
        gather.fetch_v(pages[s], lane_key + s * kStepKeys,
                       to + kStepKeys * S::kRowBytesK + warp * kGatherKeys * S::kRowBytesV);
      }
      cuda::cp_async_commit();
    }
    if constexpr (C::kMany) {
      const SharedQueries<S> q(queries + warp * 16 * C::kRowTiles * S::kRowBytesQ);
      attend_all<C>(p, item, scale, gather, q, ring, pages[C::kStages - 1], acc);
    } else {
      RegisterQueries<S> q;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int row = (C::kFew ? 0 : 16 * warp) + static_cast<int>(threadIdx.x % 32) / 4 + 8 * i;
        const bool real = row < item.rows;
        const RowPlace place = place_of(p, item, kv_head, real ? row : 0, q_begin);
        q.load(i, query_row(p, item, place), real, p.head_dim);
      }
      attend_all<C>(p, item, scale, gather, q, ring, pages[C::kStages - 1], acc);
    }
  }
  if constexpr (C::kFew) {
    cuda::cp_async_wait<0>();
    __syncthreads();  // the rings are free
    store_few<C>(p, item, kv_head, acc, shared);
  } else {
    store_rows<C>(p, item, kv_head, 16 * C::kRowTiles * warp, acc);
  }
  __shared__ cuda::MergeRoom<C::kRows> room;
  merge_pieces<typename S::T, S::kDv>(p, item, kv_head, static_cast<int>(threadIdx.x), kThreads,
                                      room, [] { __syncthreads(); });
}

template <class S, TileKind kTile, bool kSpans = false>
[[nodiscard]] CompiledKernel compiled() {
  using Config = MmaConfig<S, kTile, kSpans>;
  return {mma_kernel<Config>, kThreads, Config::kSharedBytes};
}

/// find<dk, dv>() for what kernels are compiled with, beside cuda::for_head_dims() the dim that 72
/// is padded to; their rows have the type of the activations.
template <class T, class Kv, class Find>
CompiledKernel for_padded_dims(const Kernel& kernel, const Find& find) {
  if constexpr (kAllKernels && std::is_same_v<T, Kv>) {
    constexpr int kDim = cuda::kPaddedDim;
    if (kernel.head_dim_k == kernel.head_dim_v && padded_head_dim(kernel.head_dim_v) == kDim) {
      return find.template operator()<kDim, kDim>();
    }
  }
  return cuda::for_head_dims(kernel.head_dim_k, kernel.head_dim_v, find);
}

template <class T, class Kv>
CompiledKernel find_kernel(const Kernel& kernel) {
  return for_padded_dims<T, Kv>(kernel, [&]<int kDk, int kDv>() -> CompiledKernel {
    using S = Shape<T, Kv, kDk, kDv>;
    if (kernel.tile == TileKind::kFew) return compiled<S, TileKind::kFew>();
    if (kernel.tile == TileKind::kSome) return compiled<S, TileKind::kSome>();
    return {};
  });
}

/// One size of tiles is enough beside those of 128 rows with wgmma: spans are of prompts.
template <class T, class Kv>
CompiledKernel find_span_kernel(const Kernel& kernel) {
  if (kernel.tile != TileKind::kSome) return {};
  return cuda::for_head_dims(kernel.head_dim_k, kernel.head_dim_v,
                             [&]<int kDk, int kDv>() -> CompiledKernel {
                               return compiled<Shape<T, Kv, kDk, kDv>, TileKind::kSome, true>();
                             });
}

/// Tiles of 128 rows need registers that a 256 wide output leaves none of.
template <class T>
CompiledKernel find_many_rows_kernel(const Kernel& kernel) {
  return for_padded_dims<T, T>(kernel, [&]<int kDk, int kDv>() -> CompiledKernel {
    if constexpr (kDv <= 128) return compiled<Shape<T, T, kDk, kDv>, TileKind::kMany>();
    return {};
  });
}

}  // namespace attnbench::paged_fa
