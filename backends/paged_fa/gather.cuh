// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/common/cuda/cp_async.cuh"
#include "backends/common/cuda/swizzle.cuh"
#include "backends/paged_fa/kernel_params.h"

namespace attnbench::paged_fa {

/// Keys that a warp gathers at once: lanes 0..15 and 16..31 each know where all of them lie.
inline constexpr int kGatherKeys = 16;

/// Finds K and V rows of one sequence and KV head through its page table, or behind its first row.
/// Offsets travel between lanes in units of 32 bytes, so that 128 GiB fit into one register; of
/// padded rows, which can be 144 bytes long, in units of 16.
template <class S>
class PageGather {
 public:
  __device__ __forceinline__ PageGather(const Params& p, const Item& item, int kv_head)
      : p_(p),
        pages_(p.page_table + item.sequence * p.page_table_stride),
        k_(p.k + kv_head * p.k_head_stride),
        v_(p.v + kv_head * p.v_head_stride),
        key_end_(item.key_end) {
    if (p.first_rows == nullptr) return;
    const std::int64_t first_row = p.first_rows[item.sequence];
    k_ += first_row * p.k_token_stride;
    v_ += first_row * p.v_token_stride;
  }

  /// Page of `key`; -1 beyond the item's keys. Callers ask well before they need it, because the
  /// lookup waits for memory.
  __device__ __forceinline__ int page(int key) const {
    if (key >= key_end_) return -1;
    if (p_.page_table == nullptr) return 0;  // ragged keys
    return __ldg(pages_ + (p_.page_shift >= 0 ? key >> p_.page_shift : key / p_.page_size));
  }

  /// Starts copying the K rows of the keys that lanes 0..15 and 16..31 hold into shared memory,
  /// swizzled rows of S; zeros for absent keys, and behind the end of padded rows.
  __device__ __forceinline__ void fetch_k(int page, int key, std::uint32_t tile) const {
    copy<S::kRowBytesK>(offset(page, key, p_.k_page_stride, p_.k_token_stride), k_, tile);
  }
  __device__ __forceinline__ void fetch_v(int page, int key, std::uint32_t tile) const {
    copy<S::kRowBytesV>(offset(page, key, p_.v_page_stride, p_.v_token_stride), v_, tile);
  }

 private:
  static constexpr std::uint32_t kAbsent = ~0u;
  static constexpr int kUnitBits = S::kPadded ? 4 : 5;

  __device__ __forceinline__ std::uint32_t offset(int page, int key, std::int64_t page_stride,
                                                  std::int64_t token_stride) const {
    if (page < 0) return kAbsent;
    const int rest = p_.page_shift >= 0 ? key & (p_.page_size - 1) : key % p_.page_size;
    return static_cast<std::uint32_t>((page * page_stride + rest * token_stride) >> kUnitBits);
  }

  template <int kRowBytes>
  __device__ __forceinline__ void copy(std::uint32_t offset, const std::byte* from,
                                       std::uint32_t tile) const {
    constexpr int kChunks = kRowBytes / 16;
    const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
    for (int i = 0; i < kChunks * kGatherKeys / 32; ++i) {
      const int row = (32 * i + lane) / kChunks, chunk = (32 * i + lane) % kChunks;
      const std::uint32_t at = __shfl_sync(~0u, offset, row);
      const bool real = at != kAbsent && (!S::kPadded || chunk < p_.head_dim / 8);
      cuda::cp_async_16(tile + row * kRowBytes + 16 * cuda::swizzle<kChunks>(row, chunk),
                        from + (real ? static_cast<std::int64_t>(at) << kUnitBits : 0) + 16 * chunk,
                        real);
    }
  }

  const Params& p_;
  const std::int32_t* pages_;
  const std::byte* k_;
  const std::byte* v_;
  int key_end_;
};

}  // namespace attnbench::paged_fa
