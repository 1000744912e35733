// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "backends/common/cuda/cp_async.cuh"
#include "backends/common/cuda/kernel_choice.cuh"
#include "backends/common/cuda/warp_results.cuh"
#include "backends/common/tiles/item_at.cuh"
#include "backends/common/tiles/store_tile.cuh"
#include "backends/common/tiles/warp_tile.cuh"
#include "backends/splitkv/dispatch.cuh"

namespace attnbench::splitkv {

using cuda::kRowFloats;
using cuda::Shape;
using tiles::Accumulator;
using tiles::LaneRows;
using tiles::operator*;

/// Keys that a warp gathers at once: lanes 0..15 and 16..31 each know the slots of all of them.
inline constexpr int kGatherKeys = 16;

/// Gathers K and V rows of one request and KV head through kv_indices.
template <class S>
class Gather {
 public:
  __device__ __forceinline__ Gather(const Params& p, const Item& item)
      : p_(p),
        slots_(p.kv_indices +
               (item.list < 0 ? item.kv_begin : std::int64_t{item.list} * p.list_width)),
        k_(p.k + item.kv_head * p.k_head_stride),
        v_(p.v + item.kv_head * p.v_head_stride),
        key_end_(item.key_end) {}

  /// Slot of key first_key + lane % 16; -1 beyond the item's keys. Callers ask well before fetch(),
  /// because the lookup waits for memory.
  __device__ __forceinline__ int slot(int first_key) const {
    const int key = first_key + static_cast<int>(threadIdx.x % kGatherKeys);
    return key < key_end_ ? __ldg(slots_ + key) : -1;
  }

  /// Starts copying 16 rows of K and V into shared memory; zeros for absent keys.
  __device__ __forceinline__ void fetch(int slot, std::uint32_t k_tile,
                                        std::uint32_t v_tile) const {
    std::int64_t page = slot, rest = 0;
    if (p_.page_size > 1) {
      page = slot / p_.page_size;
      rest = slot % p_.page_size;
    }
    const std::int64_t k_row = page * p_.k_page_stride + rest * p_.k_token_stride;
    const std::int64_t v_row = page * p_.v_page_stride + rest * p_.v_token_stride;
    copy<S::kRowBytesK / 16>(slot < 0 ? kAbsent : static_cast<std::uint32_t>(k_row / 16), k_,
                             k_tile);
    copy<S::kRowBytesV / 16>(slot < 0 ? kAbsent : static_cast<std::uint32_t>(v_row / 16), v_,
                             v_tile);
  }

 private:
  static constexpr std::uint32_t kAbsent = ~0u;  ///< offsets count 16 bytes: see kReachOfRows

  template <int kChunks>
  __device__ __forceinline__ static void copy(std::uint32_t offset, const std::byte* from,
                                              std::uint32_t tile) {
    const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
    for (int i = 0; i < kChunks * kGatherKeys / 32; ++i) {
      const int row = (32 * i + lane) / kChunks, chunk = (32 * i + lane) % kChunks;
      const std::uint32_t at = __shfl_sync(~0u, offset, row);
      cuda::cp_async_16(tile + row * kChunks * 16 + 16 * cuda::swizzle<kChunks>(row, chunk),
                        from + 16 * (std::uint64_t{at == kAbsent ? 0 : at} + chunk), at != kAbsent);
    }
  }

  const Params& p_;
  const std::int32_t* slots_;
  const std::byte* k_;
  const std::byte* v_;
  int key_end_;
};

inline constexpr int kWarps = 4;
inline constexpr int kThreads = 32 * kWarps;
/// Two blocks of this much shared memory share a multiprocessor of sm_80 (partly) and sm_90.
inline constexpr int kHalfShared = 113 * 1024;

constexpr int fitting_stages(int stage_bytes, int least, int most) {
  int stages = least;
  while (stages < most && (stages + 1) * stage_bytes <= kHalfShared) ++stages;
  return stages;
}

/// Read from one lane, so that the compiler knows that a warp's branches on it do not diverge.
__device__ __forceinline__ int warp_of_block() {
  return __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
}

/// Few rows (one tile of 16): the warps share the keys out among themselves, each with a ring of
/// its own and no barrier until the end.
template <class S>
struct FewRows {
  static constexpr int kRows = 16;
  static constexpr int kStageBytes = kGatherKeys * (S::kRowBytesK + S::kRowBytesV);
  static constexpr int kStages = fitting_stages(kWarps * kStageBytes, 2, 6);
  using Results = cuda::WarpResults<kWarps, kRows, S::kDv>;
  static constexpr int kMergeBytes = Results::kBytes + 4 * kRows;
  static constexpr int kSharedBytes =
      kWarps * kStages * kStageBytes > kMergeBytes ? kWarps* kStages* kStageBytes : kMergeBytes;
};

/// Leaves normalised outputs [16, kRowFloats] in `shared`; returns where their base-2 LSEs are.
template <class S>
__device__ __forceinline__ const float* few_rows(const Params& p, const Item& item,
                                                 std::byte* shared) {
  using Plan = FewRows<S>;
  const int warp = warp_of_block();

  Accumulator<S> acc;
  {
    const Gather<S> gather(p, item);
    const std::uint32_t ring =
        cuda::shared_address(shared) + warp * Plan::kStages * Plan::kStageBytes;
    const auto k_tile = [&](int stage) { return ring + stage * Plan::kStageBytes; };
    const auto v_tile = [&](int stage) { return k_tile(stage) + kGatherKeys * S::kRowBytesK; };
    const auto key = [&](int step) {
      return item.key_begin + (step * kWarps + warp) * kGatherKeys;
    };

    int slots[Plan::kStages];
#pragma unroll
    for (int s = 0; s < Plan::kStages; ++s) slots[s] = gather.slot(key(s));
#pragma unroll 1  // the code of a fetch is long, and comes from memory in a cold cache
    for (int s = 0; s < Plan::kStages - 1; ++s) {
      if (key(s) < item.key_end) gather.fetch(slots[s], k_tile(s), v_tile(s));
      cuda::cp_async_commit();
    }
    int next_slot = slots[Plan::kStages - 1];
    const LaneRows rows = lane_rows(p, item, 0);
    cuda::RegisterQueries<S> q;
    load_queries(p, item, rows, q);

    int stage = 0, free = Plan::kStages - 1;
    for (int step = 0; key(step) < item.key_end; ++step) {
      cuda::cp_async_wait<Plan::kStages - 2>();
      __syncwarp();
      const int ahead = step + Plan::kStages - 1;
      if (key(ahead) < item.key_end) gather.fetch(next_slot, k_tile(free), v_tile(free));
      cuda::cp_async_commit();
      next_slot = gather.slot(key(ahead + 1));
      attend<S, kGatherKeys>(k_tile(stage), v_tile(stage), key(step), q, rows, p, acc);
      free = stage;
      stage = stage + 1 == Plan::kStages ? 0 : stage + 1;
    }
    acc.finish();
  }

  cuda::cp_async_wait<0>();
  __syncthreads();  // the rings are free
  const typename Plan::Results results(shared);
  float* const lse = results.sums + kWarps * Plan::kRows;  // [16]
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int row = static_cast<int>(threadIdx.x % 32) / 4 + 8 * i;
    if (row >= item.rows) continue;
    float* const out = results.out(warp, row);
#pragma unroll
    for (int t = 0; t < S::kDv / 8; ++t) {
#pragma unroll
      for (int j = 0; j < 2; ++j) out[acc.dimension(t, j)] = acc.out[0][t][2 * i + j];
    }
    if (threadIdx.x % 4 == 0) results.set(warp, row, acc.highest[i], acc.sum[i]);
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < item.rows * S::kDv / 4; i += kThreads) {
    const int row = i / (S::kDv / 4), d = 4 * (i % (S::kDv / 4));
    const auto [top, total, values] = results.merged(row, d);
    // Only this thread reads these four places of the first warp's rows.
    *reinterpret_cast<float4*>(results.out(0, row) + d) =
        float4{values[0], values[1], values[2], values[3]} * (total > 0 ? 1.0f / total : 0.0f);
    if (d == 0) lse[row] = total > 0 ? top + log2f(total) : -INFINITY;
  }
  __syncthreads();
  return lse;
}

/// Many rows: each warp has 16 of the tile's 64, and all share the keys.
template <class S>
struct ManyRows {
  static constexpr int kRows = 16 * kWarps;
  static constexpr int kKeys = kGatherKeys * kWarps;
  static constexpr int kStageBytes = kKeys * (S::kRowBytesK + S::kRowBytesV);
  static constexpr int kStages = fitting_stages(kStageBytes, 2, 3);
  /// Keys whose logits are in registers at once.
  static constexpr int kStepKeys = S::kDv > 128 ? 32 : 64;
  static constexpr int kMergeBytes = 4 * kRows * (kRowFloats<S::kDv> + 1);
  static constexpr int kSharedBytes =
      kStages * kStageBytes > kMergeBytes ? kStages* kStageBytes : kMergeBytes;
};

/// Leaves normalised outputs [64, kRowFloats] in `shared`; returns where their base-2 LSEs are.
template <class S>
__device__ __forceinline__ const float* many_rows(const Params& p, const Item& item,
                                                  std::byte* shared) {
  using Plan = ManyRows<S>;
  const int warp = warp_of_block();

  Accumulator<S> acc;
  {
    const Gather<S> gather(p, item);
    const std::uint32_t ring = cuda::shared_address(shared);
    const auto k_tile = [&](int stage) { return ring + stage * Plan::kStageBytes; };
    const auto v_tile = [&](int stage) { return k_tile(stage) + Plan::kKeys * S::kRowBytesK; };
    const auto key = [&](int step) { return item.key_begin + step * Plan::kKeys; };
    const auto fetch = [&](int slot, int stage) {
      gather.fetch(slot, k_tile(stage) + warp * kGatherKeys * S::kRowBytesK,
                   v_tile(stage) + warp * kGatherKeys * S::kRowBytesV);
    };
    const auto slot = [&](int step) { return gather.slot(key(step) + warp * kGatherKeys); };

    int slots[Plan::kStages];
#pragma unroll
    for (int s = 0; s < Plan::kStages; ++s) slots[s] = slot(s);
#pragma unroll 1  // the code of a fetch is long, and comes from memory in a cold cache
    for (int s = 0; s < Plan::kStages - 1; ++s) {
      if (key(s) < item.key_end) fetch(slots[s], s);
      cuda::cp_async_commit();
    }
    int next_slot = slots[Plan::kStages - 1];
    const LaneRows rows = lane_rows(p, item, 16 * warp);
    cuda::RegisterQueries<S> q;
    load_queries(p, item, rows, q);

    int stage = 0, free = Plan::kStages - 1;
    for (int step = 0; key(step) < item.key_end; ++step) {
      cuda::cp_async_wait<Plan::kStages - 2>();
      __syncthreads();
      const int ahead = step + Plan::kStages - 1;
      if (key(ahead) < item.key_end) fetch(next_slot, free);
      cuda::cp_async_commit();
      next_slot = slot(ahead + 1);
      if (16 * warp < item.rows) {
#pragma unroll
        for (int keys = 0; keys < Plan::kKeys; keys += Plan::kStepKeys) {
          attend<S, Plan::kStepKeys>(k_tile(stage) + keys * S::kRowBytesK,
                                     v_tile(stage) + keys * S::kRowBytesV, key(step) + keys, q,
                                     rows, p, acc);
        }
      }
      free = stage;
      stage = stage + 1 == Plan::kStages ? 0 : stage + 1;
    }
    acc.finish();
  }

  cuda::cp_async_wait<0>();
  __syncthreads();                                             // the ring is free
  auto* const outs = reinterpret_cast<float*>(shared);         // [64, kRowFloats]
  float* const lse = outs + Plan::kRows * kRowFloats<S::kDv>;  // [64]
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int row = 16 * warp + static_cast<int>(threadIdx.x % 32) / 4 + 8 * i;
    if (row >= item.rows) continue;
    const float inverse = acc.sum[i] > 0 ? 1.0f / acc.sum[i] : 0.0f;
    float* const out = outs + row * kRowFloats<S::kDv>;
#pragma unroll
    for (int t = 0; t < S::kDv / 8; ++t) {
#pragma unroll
      for (int j = 0; j < 2; ++j) out[acc.dimension(t, j)] = acc.out[0][t][2 * i + j] * inverse;
    }
    if (threadIdx.x % 4 == 0) {
      lse[row] = acc.sum[i] > 0 ? acc.highest[i] + log2f(acc.sum[i]) : -INFINITY;
    }
  }
  __syncthreads();
  return lse;
}

/// What this block computes. Blocks of all KV heads with the same item follow each other, so that
/// the longest still come first.
__device__ __forceinline__ Item item_of_block(const Params& p) {
  const auto block = static_cast<int>(blockIdx.x);
  Item item = tiles::item_at(p, p.items + block / p.heads_kv, block % p.heads_kv);
  item.tile += item.kv_head * p.tiles;
  item.partial += item.kv_head * p.partials;
  item.first_partial += item.kv_head * p.partials;
  return item;
}

/// Tiles of up to 16 rows.
template <class S>
__global__ void __launch_bounds__(kThreads) few_rows_kernel(const __grid_constant__ Params p) {
  extern __shared__ __align__(128) std::byte shared[];
  const Item item = item_of_block(p);
  if (item.rows == 0) return;
  const float* const lse = few_rows<S>(p, item, shared);
  store_tile<S>(p, item, reinterpret_cast<const float*>(shared), lse);
}

/// Tiles of up to 64 rows; those of up to 16 go the shorter way.
template <class S>
__global__ void __launch_bounds__(kThreads) any_rows_kernel(const __grid_constant__ Params p) {
  extern __shared__ __align__(128) std::byte shared[];
  const Item item = item_of_block(p);
  if (item.rows == 0) return;
  const float* const lse =
      item.rows <= FewRows<S>::kRows ? few_rows<S>(p, item, shared) : many_rows<S>(p, item, shared);
  store_tile<S>(p, item, reinterpret_cast<const float*>(shared), lse);
}

template <class S>
[[nodiscard]] CompiledKernel compiled(bool many_rows) {
  if (many_rows) {
    return {any_rows_kernel<S>, kThreads,
            std::max(FewRows<S>::kSharedBytes, ManyRows<S>::kSharedBytes)};
  }
  return {few_rows_kernel<S>, kThreads, FewRows<S>::kSharedBytes};
}

template <class T, class Kv>
CompiledKernel find_kernel(const Kernel& kernel) {
  return cuda::for_head_dims(kernel.head_dim_k, kernel.head_dim_v, [&]<int kDk, int kDv>() {
    return compiled<Shape<T, Kv, kDk, kDv>>(kernel.many_rows);
  });
}

}  // namespace attnbench::splitkv
