// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backends/mla/latent_rows.cuh"
#include "backends/mla/params.h"

// Few rows over latents in fp8, which stay as they are in shared memory and are widened in
// registers, as operands of mma.sync. 16 rows; eight warps. Each has 16 keys of a tile's logits and
// 64 columns of the output.
namespace attnbench::mla::fp8 {

inline constexpr int kRows = 16;
inline constexpr int kWarps = 8;
inline constexpr int kThreads = 32 * kWarps;
inline constexpr int kTileKeys = 128;  ///< plan_work()'s steps
inline constexpr int kWarpKeys = kTileKeys / kWarps;
inline constexpr int kDk = 576;
inline constexpr int kDv = 512;
inline constexpr int kWarpDims = kDv / kWarps;
/// Kv: e4m3, e5m2 or ScaledBlocks, whose weights wait in f32 for the scales of their keys.
template <class Kv>
struct Layout {
  static constexpr bool kScaled = std::is_same_v<Kv, ScaledBlocks>;
  using Fp8 = std::conditional_t<kScaled, __nv_fp8_e4m3, Kv>;
  using Weight = std::conditional_t<kScaled, float, __half>;
  static constexpr int kRowBytes = kLatentRowBytes<Kv>;
  static constexpr int kTileBytes = kTileKeys * kRowBytes;
  /// Tiles that are here or on their way: as many as there is room for.
  static constexpr int kStages = kScaled ? 2 : 3;
  /// Of a row, and what keeps rows in different banks.
  static constexpr int kWeightBytes =
      static_cast<int>(sizeof(Weight)) * kTileKeys + (kScaled ? 32 : 16);
  static constexpr int kWeightsAt = kStages * kTileBytes;
  static constexpr int kHighestAt = kWeightsAt + kRows * kWeightBytes;
  static constexpr int kSharedBytes = kHighestAt + kRows * kWarps * 4;
  static_assert(kSharedBytes <= 227 * 1024);  // a block's on sm_90 (CUDA C++ programming guide)

  /// Of 16 bytes of a tile's row. Eight neighbours that ldmatrix reads at once fall into different
  /// banks: rows of 656 bytes by themselves, rows of 576, which lie half of all banks apart, by the
  /// order of their chunks.
  __device__ __forceinline__ static int place(int row, int chunk) {
    return row * kRowBytes + 16 * (kScaled ? chunk : chunk ^ (row / 2 & 3));
  }
};
/// Chunks of 16 bytes: the latent columns, then the scales of ScaledBlocks or the rope columns.
inline constexpr int kLatentChunks = kDv / 16;

/// Tiles of an item. One without keys has a tile, of which no row sees anything.
__device__ __forceinline__ int tiles_of(const Item& item) {
  return max(1, (item.key_end - item.key_begin + kTileKeys - 1) / kTileKeys);
}

struct Thread {
  int lane = static_cast<int>(threadIdx.x % 32);
  int warp = static_cast<int>(threadIdx.x / 32);

  /// The rows i = 0, 1 of which a lane has columns in an accumulator.
  __device__ __forceinline__ int row(int i) const { return lane / 4 + 8 * i; }
};

}  // namespace attnbench::mla::fp8
