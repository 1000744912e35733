// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/cp_async.cuh"
#include "backends/common/tiles/item_at.cuh"
#include "backends/common/tiles/store_tile.cuh"
#include "backends/mla/dispatch.cuh"
#include "backends/mla/params.h"

// Absorbed MLA: all query heads of a request read one latent row per token, which is key (576
// columns) and value (its first 512). A block keeps its rows' queries in shared memory, streams the
// latent rows through it once and uses each twice. Four warps share a group of rows: each takes a
// quarter of the keys for q.k and a quarter of the columns for the output.

namespace attnbench::mla {

using cuda::exp2_approx;
using tiles::LaneRows;

inline constexpr int kDk = 576;
inline constexpr int kDv = 512;
inline constexpr int kRowBytes = 2 * kDk;
inline constexpr int kChunks = kRowBytes / 16;
inline constexpr int kSlices = 4;  ///< warps of a group of rows
inline constexpr int kSliceDims = kDv / kSlices;

/// Types and tile shape. kRowTiles tiles of 16 rows per warp, kGroups groups of rows, kKeys keys at
/// a time, kStages tiles of keys in flight.
template <class T_, class Kv_, int kRowTiles_, int kGroups_, int kKeys_, int kStages_>
struct Tile {
  using T = T_;
  using Kv = Kv_;
  static constexpr int kDv = mla::kDv;  // for tiles' stores
  static constexpr bool kFp8 = sizeof(Kv) == 1;
  static constexpr int kRowTiles = kRowTiles_;
  static constexpr int kKeys = kKeys_;
  static constexpr int kStages = kStages_;
  static constexpr int kRows = 16 * kRowTiles_ * kGroups_;
  static constexpr int kWarps = kSlices * kGroups_;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kWarpKeys = kKeys / kSlices;    ///< of q.k
  static constexpr int kWeightBytes = 2 * kKeys + 16;  ///< a row of weights; 16 against conflicts
  static constexpr int kQueryAt = 0;
  static constexpr int kKeysAt = kRows * kRowBytes;
  static constexpr int kWeightsAt = kKeysAt + kStages * kKeys * kRowBytes;
  static constexpr int kHighestAt = kWeightsAt + kRows * kWeightBytes;
  static constexpr int kLoopBytes = kHighestAt + kRows * kSlices * 4;
  static constexpr int kStoreBytes = 4 * kRows * (tiles::kRowFloats<kDv> + kSlices + 1);
  static constexpr int kSharedBytes = kLoopBytes > kStoreBytes ? kLoopBytes : kStoreBytes;
};

/// Few rows: two blocks share a multiprocessor. Many rows: one block fills it.
template <class T, class Kv>
using FewRows = Tile<T, Kv, 1, 1, 32, 2>;
template <class T, class Kv>
using ManyRows = Tile<T, Kv, 2, 2, 64, 2>;

/// Eight rows that ldmatrix reads at once fall into different banks.
__device__ __forceinline__ std::uint32_t place(int row, int chunk) {
  return static_cast<std::uint32_t>(row * kRowBytes + 16 * (chunk ^ (row & 7)));
}

/// Copies tiles of latent rows into shared memory. Each warp has kKeys / kWarps rows of a tile.
template <class S>
class LatentRows {
 public:
  static constexpr int kOwnRows = S::kKeys / S::kWarps;

  __device__ __forceinline__ LatentRows(const Params& p, const Item& item)
      : p_(p),
        blocks_(p.block_table + tiles::table_row(item) * p.block_table_width),
        key_end_(item.key_end) {}

  /// Byte offset of the row of key first_key + (own row lane % kOwnRows); -1 beyond the item's
  /// keys. Callers ask one tile ahead, because the lookup waits for memory.
  __device__ __forceinline__ std::int64_t offset(int first_key) const {
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x) / 32;
    const int key = first_key + warp * kOwnRows + lane % kOwnRows;
    if (key >= key_end_) return -1;
    const std::int64_t page = __ldg(blocks_ + (key >> p_.page_shift));
    return page * p_.k_page_stride + (key & ((1 << p_.page_shift) - 1)) * p_.k_token_stride;
  }

  /// Starts copying this warp's rows; zeros for absent keys.
  __device__ __forceinline__ void fetch(std::int64_t offset, std::byte* tile) const {
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x) / 32;
    const std::uint32_t address = cuda::shared_address(tile);
#pragma unroll
    for (int i = 0; i < kOwnRows; ++i) {
      const std::int64_t at = __shfl_sync(~0u, offset, i);
      const std::byte* from = p_.k + (at < 0 ? 0 : at);
      const int row = warp * kOwnRows + i;
      if constexpr (S::kFp8) {
        widen_row(from, at >= 0, row, tile);
      } else {
#pragma unroll
        for (int chunk = lane; chunk < kChunks; chunk += 32) {
          cuda::cp_async_16(address + place(row, chunk), from + 16 * chunk, at >= 0);
        }
      }
    }
  }

 private:
  __device__ __forceinline__ void widen_row(const std::byte* from, bool present, int row,
                                            std::byte* tile) const {
    using T = typename S::T;
    const auto widen = [](std::uint32_t two) { return cuda::widen_fp8x2<T, typename S::Kv>(two); };
    for (int chunk = static_cast<int>(threadIdx.x % 32); chunk < kDk / 16; chunk += 32) {
      const uint4 eights = present ? __ldg(reinterpret_cast<const uint4*>(from) + chunk) : uint4{};
      *reinterpret_cast<uint4*>(tile + place(row, 2 * chunk)) = {
          widen(eights.x), widen(eights.x >> 16), widen(eights.y), widen(eights.y >> 16)};
      *reinterpret_cast<uint4*>(tile + place(row, 2 * chunk + 1)) = {
          widen(eights.z), widen(eights.z >> 16), widen(eights.w), widen(eights.w >> 16)};
    }
  }

  const Params& p_;
  const std::int32_t* blocks_;
  int key_end_;
};

/// The tile's queries; zeros beyond its rows.
template <class S>
__device__ __forceinline__ void load_queries(const Params& p, const Item& item, std::byte* shared) {
  for (int i = static_cast<int>(threadIdx.x); i < S::kRows * kChunks; i += S::kThreads) {
    const int row = i / kChunks, chunk = i % kChunks;
    uint4 value{};
    if (row < item.rows) {
      const std::int64_t token = item.q_begin + (item.row_begin + row) / p.group;
      const int head = (item.row_begin + row) % p.group;
      value = __ldg(
          reinterpret_cast<const uint4*>(p.q + token * p.q_token_stride + head * p.q_head_stride) +
          chunk);
    }
    *reinterpret_cast<uint4*>(shared + S::kQueryAt + place(row, chunk)) = value;
  }
}

template <class S>
__global__ void __launch_bounds__(S::kThreads) mla_kernel(const __grid_constant__ Params p) {
  using T = typename S::T;
  extern __shared__ __align__(128) std::byte shared[];
  const Item item = tiles::item_at(p, p.items + blockIdx.x);
  if (item.rows == 0) return;
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x) / 32;
  const int slice = warp % kSlices, first_row = warp / kSlices * 16 * S::kRowTiles;
  const std::uint32_t base = cuda::shared_address(shared);
  std::byte* const key_tiles = shared + S::kKeysAt;
  auto* const shared_highest = reinterpret_cast<float*>(shared + S::kHighestAt);  // [rows, slices]
  constexpr int kTileBytes = S::kKeys * kRowBytes;

  const LatentRows<S> latent(p, item);
  const auto key = [&](int step) { return item.key_begin + step * S::kKeys; };
  std::int64_t next = latent.offset(key(0));
#pragma unroll
  for (int s = 0; s < S::kStages - 1; ++s) {
    const std::int64_t now = next;
    next = latent.offset(key(s + 1));
    if (key(s) < item.key_end) latent.fetch(now, key_tiles + s * kTileBytes);
    cuda::cp_async_commit();
  }
  load_queries<S>(p, item, shared);

  LaneRows rows[S::kRowTiles];
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) {
    rows[m] = tiles::lane_rows(p, item, first_row + 16 * m);
  }
  float out[S::kRowTiles][kSliceDims / 8][4] = {};
  float highest[S::kRowTiles][2], sum[S::kRowTiles][2];
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
    for (int i = 0; i < 2; ++i) highest[m][i] = -INFINITY, sum[m][i] = 0;
  }

  int stage = 0;
  for (int step = 0; key(step) < item.key_end; ++step) {
    cuda::cp_async_wait<S::kStages - 2>();
    __syncthreads();  // this tile is there, and the one before is not read any more
    const int ahead = step + S::kStages - 1, free = stage == 0 ? S::kStages - 1 : stage - 1;
    const std::int64_t now = next;
    next = latent.offset(key(ahead + 1));
    if (key(ahead) < item.key_end) latent.fetch(now, key_tiles + free * kTileBytes);
    cuda::cp_async_commit();
    const std::uint32_t tile = base + S::kKeysAt + stage * kTileBytes;
    stage = stage + 1 == S::kStages ? 0 : stage + 1;

    // q.k of this warp's keys.
    constexpr int kColumns = S::kWarpKeys / 8;
    float s[S::kRowTiles][kColumns][4] = {};
    const int first_key = slice * S::kWarpKeys;
#pragma unroll 4
    for (int k = 0; k < kDk / 16; ++k) {
      std::uint32_t b[4] = {};
      if constexpr (kColumns == 2) {
        cuda::ldmatrix_x4(b,
                          tile + place(first_key + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2));
      } else {
        static_assert(kColumns == 1);
        cuda::ldmatrix_x2(b[0], b[1], tile + place(first_key + lane % 8, 2 * k + lane / 8 % 2));
      }
#pragma unroll
      for (int m = 0; m < S::kRowTiles; ++m) {
        std::uint32_t a[4];
        cuda::ldmatrix_x4(
            a, base + S::kQueryAt + place(first_row + 16 * m + lane % 16, 2 * k + lane / 16));
        cuda::mma_m16n8k16<T>(s[m][0], a, b[0], b[1]);
        if constexpr (kColumns == 2) cuda::mma_m16n8k16<T>(s[m][1], a, b[2], b[3]);
      }
    }

    // The highest logit of each row, over all four warps.
#pragma unroll
    for (int m = 0; m < S::kRowTiles; ++m) {
      tiles::finish_logits<S::kWarpKeys>(s[m], key(step) + first_key, rows[m], p);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        float most = -INFINITY;
#pragma unroll
        for (auto& column : s[m]) most = fmaxf(most, fmaxf(column[2 * i], column[2 * i + 1]));
        most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
        most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
        const int row = first_row + 16 * m + lane / 4 + 8 * i;
        if (lane % 4 == 0) shared_highest[row * kSlices + slice] = most;
      }
    }
    __syncthreads();
#pragma unroll
    for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int row = first_row + 16 * m + lane / 4 + 8 * i;
        const float4 four = *reinterpret_cast<const float4*>(shared_highest + row * kSlices);
        const float most =
            fmaxf(highest[m][i], fmaxf(fmaxf(four.x, four.y), fmaxf(four.z, four.w)));
        const float zero = most == -INFINITY ? 0.0f : most;  // no key seen yet: weights are 0
        const float factor = exp2_approx(highest[m][i] - zero);
        highest[m][i] = most;
        sum[m][i] *= factor;
        auto* const weights = reinterpret_cast<std::uint32_t*>(
            shared + S::kWeightsAt + row * S::kWeightBytes + 2 * first_key);
#pragma unroll
        for (int n = 0; n < kColumns; ++n) {
          const float low = exp2_approx(s[m][n][2 * i] - zero);
          const float high = exp2_approx(s[m][n][2 * i + 1] - zero);
          sum[m][i] += low + high;
          weights[4 * n + lane % 4] = cuda::pack2<T>(low, high);
        }
        if (factor != 1.0f) {
#pragma unroll
          for (auto& column : out[m]) column[2 * i] *= factor, column[2 * i + 1] *= factor;
        }
      }
    }
    __syncthreads();

    // Weights of all keys times this warp's columns.
#pragma unroll
    for (int keys = 0; keys < S::kKeys; keys += 16) {
      std::uint32_t a[S::kRowTiles][4];
#pragma unroll
      for (int m = 0; m < S::kRowTiles; ++m) {
        cuda::ldmatrix_x4(a[m], base + S::kWeightsAt +
                                    (first_row + 16 * m + lane % 16) * S::kWeightBytes + 2 * keys +
                                    lane / 16 * 16);
      }
#pragma unroll
      for (int n = 0; n < kSliceDims / 8; n += 2) {
        std::uint32_t b[4];
        cuda::ldmatrix_x4_trans(
            b, tile + place(keys + lane % 16, slice * kSliceDims / 8 + n + lane / 16));
#pragma unroll
        for (int m = 0; m < S::kRowTiles; ++m) {
          cuda::mma_m16n8k16<T>(out[m][n], a[m], b[0], b[1]);
          cuda::mma_m16n8k16<T>(out[m][n + 1], a[m], b[2], b[3]);
        }
      }
    }
  }

  cuda::cp_async_wait<0>();
  __syncthreads();                                               // the tiles are free
  auto* const outs = reinterpret_cast<float*>(shared);           // [rows, kRowFloats]
  float* const sums = outs + S::kRows * tiles::kRowFloats<kDv>;  // [rows, slices]
  float* const lse = sums + S::kRows * kSlices;                  // [rows]
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float total = sum[m][i];
      total += __shfl_xor_sync(~0u, total, 1);
      total += __shfl_xor_sync(~0u, total, 2);
      const int row = first_row + 16 * m + lane / 4 + 8 * i;
      if (lane % 4 == 0) sums[row * kSlices + slice] = total;
    }
  }
  __syncthreads();
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = first_row + 16 * m + lane / 4 + 8 * i;
      if (row >= item.rows) continue;
      const float total = sums[row * kSlices] + sums[row * kSlices + 1] + sums[row * kSlices + 2] +
                          sums[row * kSlices + 3];
      const float inverse = total > 0 ? 1.0f / total : 0.0f;
      float* const to = outs + row * tiles::kRowFloats<kDv> + slice * kSliceDims + 2 * (lane % 4);
#pragma unroll
      for (int n = 0; n < kSliceDims / 8; ++n) {
        to[8 * n] = out[m][n][2 * i] * inverse;
        to[8 * n + 1] = out[m][n][2 * i + 1] * inverse;
      }
      if (slice == 0 && lane % 4 == 0) {
        lse[row] = total > 0 ? highest[m][i] + log2f(total) : -INFINITY;
      }
    }
  }
  __syncthreads();
  tiles::store_tile<S>(p, item, outs, lse);
}

template <class T, class Kv>
CompiledKernel find_kernel(const Kernel& kernel) {
  using Few = FewRows<T, Kv>;
  using Many = ManyRows<T, Kv>;
  if (kernel.tile == TileKind::kMany) return {mla_kernel<Many>, Many::kThreads, Many::kSharedBytes};
  return {mla_kernel<Few>, Few::kThreads, Few::kSharedBytes};
}

}  // namespace attnbench::mla
