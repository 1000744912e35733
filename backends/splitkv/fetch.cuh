// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/cp_async.cuh"
#include "backends/splitkv/warp_tile.cuh"

namespace attnbench::splitkv {

/// Keys that a warp gathers at once: lanes 0..15 and 16..31 each know the slots of all of them.
inline constexpr int kGatherKeys = 16;

/// Gathers K and V rows of one request and KV head through kv_indices.
template <class S>
class Gather {
 public:
  __device__ __forceinline__ Gather(const Params& p, const Item& item)
      : p_(p),
        slots_(p.kv_indices + item.kv_begin),
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

}  // namespace attnbench::splitkv
