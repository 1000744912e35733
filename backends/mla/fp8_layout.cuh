// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/common/cuda/kv_convert.cuh"
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
inline constexpr int kStages =
    3;  ///< tiles that are here or on their way: as many as there is room
inline constexpr int kTileBytes = kTileKeys * kDk;
inline constexpr int kWeightBytes = 2 * kTileKeys + 16;  ///< of a row; 16 against bank conflicts
inline constexpr int kWeightsAt = kStages * kTileBytes;
inline constexpr int kHighestAt = kWeightsAt + kRows * kWeightBytes;
inline constexpr int kSharedBytes = kHighestAt + kRows * kWarps * 4;
static_assert(kSharedBytes <= 227 * 1024);  // a block's on sm_90 (CUDA C++ programming guide)

/// Of 16 bytes of a tile's row. Rows lie half of all banks apart; that way eight neighbours that
/// ldmatrix reads at once fall into different banks, and so do two rows of 64 bytes.
__device__ __forceinline__ int place(int row, int chunk) {
  return row * kDk + 16 * (chunk ^ (row / 2 & 3));
}

/// Tiles of an item. One without keys has a tile, of which no row sees anything.
__device__ __forceinline__ int tiles_of(const Item& item) {
  return max(1, (item.key_end - item.key_begin + kTileKeys - 1) / kTileKeys);
}

/// Two numbers of fp8, the low 16 bits, as f16: exact.
template <class Kv>
__device__ __forceinline__ std::uint32_t widen(std::uint32_t two) {
  return cuda::fp8x2_to_f16x2<Kv>(two);
}

struct Thread {
  int lane = static_cast<int>(threadIdx.x % 32);
  int warp = static_cast<int>(threadIdx.x / 32);

  /// The rows i = 0, 1 of which a lane has columns in an accumulator.
  __device__ __forceinline__ int row(int i) const { return lane / 4 + 8 * i; }
};

}  // namespace attnbench::mla::fp8
