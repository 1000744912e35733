// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/common/cuda/cp_async.cuh"
#include "backends/common/cuda/kv_convert.cuh"
#include "backends/common/cuda/ldmatrix.cuh"
#include "backends/common/cuda/mma_products.cuh"
#include "backends/common/cuda/shape.cuh"
#include "backends/paged_fa/launch.h"
#include "backends/paged_fa/logits.cuh"
#include "backends/paged_fa/store.cuh"

// What one warp does with mma.sync: tiles of 16 query rows against keys in shared memory, after
// FlashAttention-2 (Dao, 2023).

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

using cuda::RegisterQueries;
using cuda::Shape;

/// Query rows that stay in shared memory: more than registers hold.
template <class S>
class SharedQueries {
 public:
  /// Starts copying a block's tile of rows into shared memory; the caller commits and waits.
  __device__ __forceinline__ static void fetch(const Params& p, const Item& item, int kv_head,
                                               std::uint32_t tile, int tile_rows) {
    constexpr int kChunks = S::kRowBytesQ / 16;
    for (int i = static_cast<int>(threadIdx.x); i < tile_rows * kChunks;
         i += static_cast<int>(blockDim.x)) {
      const int row = i / kChunks, chunk = i % kChunks;
      const bool real = row < item.rows && (!S::kPadded || chunk < p.head_dim / 8);
      const RowPlace place = place_of(p, item, kv_head, row < item.rows ? row : 0);
      cuda::cp_async_16(tile + row * S::kRowBytesQ + 16 * cuda::swizzle<kChunks>(row, chunk),
                        query_row(p, item, place) + 16 * chunk, real);
    }
  }
  /// `tile` is where this warp's first row lies.
  __device__ __forceinline__ explicit SharedQueries(std::uint32_t tile) : tile_(tile) {}

  __device__ __forceinline__ void get(int row_tile, int step, std::uint32_t (&a)[4]) const {
    constexpr int kChunks = S::kRowBytesQ / 16;
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int row = 16 * row_tile + lane % 16, chunk = 2 * step + lane / 16;
    cuda::ldmatrix_x4(a, tile_ + row * S::kRowBytesQ + 16 * cuda::swizzle<kChunks>(row, chunk));
  }

 private:
  std::uint32_t tile_;
};

/// Softmax state and output of tiles of 16 rows.
template <class S, int kRowTiles>
struct Accumulator {
  float out[kRowTiles][S::kDv / 8][4] = {};
  float highest[kRowTiles][2];  ///< log2 domain
  float sum[kRowTiles][2];      ///< of this lane's columns until finish()

  __device__ __forceinline__ Accumulator() {
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
      for (int i = 0; i < 2; ++i) highest[r][i] = -INFINITY, sum[r][i] = 0;
    }
  }
  __device__ __forceinline__ void finish() {
#pragma unroll
    for (auto& row : sum) {
#pragma unroll
      for (float& x : row) {
        x += __shfl_xor_sync(~0u, x, 1);
        x += __shfl_xor_sync(~0u, x, 2);
      }
    }
  }
  /// Calls f(first dimension, values) for each run of neighbouring dimensions of row i of a tile.
  template <class F>
  __device__ __forceinline__ void for_each_run(int row_tile, int i, const F& f) const {
    const int pair = static_cast<int>(threadIdx.x % 4);
    const auto& tile = out[row_tile];
    if constexpr (S::kFp8) {
      // Of each 16 dimensions the even ones are in one accumulator, the odd ones in the next.
#pragma unroll
      for (int n = 0; n < S::kDv / 8; n += 2) {
        float run[4] = {tile[n][2 * i], tile[n + 1][2 * i], tile[n][2 * i + 1],
                        tile[n + 1][2 * i + 1]};
        f(8 * n + 4 * pair, run);
      }
    } else {
#pragma unroll
      for (int n = 0; n < S::kDv / 8; ++n) {
        float run[2] = {tile[n][2 * i], tile[n][2 * i + 1]};
        f(8 * n + 2 * pair, run);
      }
    }
  }
};

/// Rows `first_row`, … of the tile against kKeys keys, the first of which is `first_key`. `scale`
/// is what q.k is multiplied with.
template <class S, int kRowTiles, int kKeys, bool kSpans, class Queries>
__device__ __forceinline__ void attend(std::uint32_t k_tile, std::uint32_t v_tile, int first_key,
                                       int first_row, const Queries& q, const Params& p,
                                       const Item& item, const float& scale,
                                       Accumulator<S, kRowTiles>& acc) {
  float s[kRowTiles][kKeys / 8][4] = {};
  cuda::multiply_qk<S, kRowTiles, kKeys>(s, q, k_tile);
  float factor = scale * cuda::kLog2e;
  if (p.softcap > 0) {
    factor = 1;
#pragma unroll
    for (auto& tile : s) cap_logits(tile, p, scale);
  }
  const bool cut = first_key < item.full_begin || first_key + kKeys > item.full_end;
  const bool warm = p.temperature_len > 0;
  if (cut || warm) {
    const cuda::RequestGeometry request = geometry_of(p, item.sequence);
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int row = first_row + 16 * r + static_cast<int>(threadIdx.x % 32) / 4 + 8 * i;
        if (warm) warm_row(s[r], i, row, p, item, request);
        if (cut) hide_row<kSpans>(s[r], i, first_key, row, p, item, request);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r) {
    float rescale[2];
    to_weights(s[r], factor, acc.highest[r], acc.sum[r], rescale);
    if (!__any_sync(~0u, rescale[0] != 1.0f || rescale[1] != 1.0f)) continue;
#pragma unroll
    for (auto& tile : acc.out[r]) {
      tile[0] *= rescale[0];
      tile[1] *= rescale[0];
      tile[2] *= rescale[1];
      tile[3] *= rescale[1];
    }
  }
  cuda::multiply_pv<S, kRowTiles, kKeys>(acc.out, s, v_tile);
}

}  // namespace attnbench::paged_fa
