// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backends/common/cuda/ldmatrix.cuh"
#include "backends/mla/latent_rows.cuh"
#include "backends/mla/params.h"

// Few rows: 16, and eight warps. Latent rows lie in shared memory as the cache has them; those in
// fp8 are widened in registers, as operands of mma.sync. Each warp has an eighth of a tile's keys
// of the logits and 64 columns of the output.
namespace attnbench::mla::few {

inline constexpr int kRows = 16;
inline constexpr int kWarps = 8;
inline constexpr int kThreads = 32 * kWarps;
inline constexpr int kDk = 576;
inline constexpr int kDv = 512;
inline constexpr int kWarpDims = kDv / kWarps;

/// Kv: the activations' type, e4m3, e5m2 or ScaledBlocks, whose weights wait in f32 for the scales
/// of their keys.
template <class Kv>
struct Layout {
  static constexpr bool kScaled = std::is_same_v<Kv, ScaledBlocks>;
  static constexpr bool kWide = sizeof(Kv) == 2;
  using Fp8 = std::conditional_t<kScaled, __nv_fp8_e4m3, Kv>;
  /// What weights and values are multiplied as. Scales can be far from 1, which f16 has no room
  /// for.
  using Product = std::conditional_t<kWide, Kv, std::conditional_t<kScaled, __nv_bfloat16, __half>>;

  static constexpr int kTileKeys = kWide || kScaled ? 64 : 128;
  static constexpr int kWarpKeys = kTileKeys / kWarps;
  static constexpr int kRowBytes = kLatentRowBytes<Kv>;
  static constexpr int kTileBytes = kTileKeys * kRowBytes;
  /// Tiles that are here or on their way: as many as there is room for.
  static constexpr int kStages = kScaled ? 5 : 3;
  /// Of a row, and what keeps rows in different banks.
  static constexpr int kWeightBytes = (kScaled ? 4 : 2) * kTileKeys + (kScaled ? 32 : 16);
  static constexpr int kWeightsAt = kStages * kTileBytes;
  static constexpr int kHighestAt = kWeightsAt + kRows * kWeightBytes;
  static constexpr int kSharedBytes = kHighestAt + kRows * kWarps * 4;
  static_assert(kSharedBytes <= 227 * 1024);  // a block's on sm_90 (CUDA C++ programming guide)

  /// Of 16 bytes of a tile's row. Eight neighbours that ldmatrix reads at once fall into different
  /// banks, and so do four chunks of two rows: rows of 656 bytes nearly so by themselves, the
  /// others, which lie half of all banks apart or none, by the order of their chunks.
  __device__ __forceinline__ static int place(int row, int chunk) {
    const int other = kScaled ? 0 : (row / 2 & 3) + (kWide ? 4 * (row & 1) : 0);
    return row * kRowBytes + 16 * (chunk ^ other);
  }
  /// Tiles of an item. One without keys has a tile, of which no row sees anything.
  __device__ __forceinline__ static int tiles_of(const Item& item) {
    return max(1, (item.key_end - item.key_begin + kTileKeys - 1) / kTileKeys);
  }
};

/// The chunk of a row of ScaledBlocks that holds its scales; the rope columns follow.
inline constexpr int kScaleChunk = kLatentDims / 16;

struct Thread {
  int lane = static_cast<int>(threadIdx.x % 32);
  int warp = static_cast<int>(threadIdx.x / 32);

  /// The rows i = 0, 1 of which a lane has columns in an accumulator.
  __device__ __forceinline__ int row(int i) const { return lane / 4 + 8 * i; }
};

/// Where things lie in shared memory.
template <class Kv>
struct Shared {
  using Tile = Layout<Kv>;
  std::byte* bytes;
  std::uint32_t address;  ///< of the same place

  __device__ __forceinline__ explicit Shared(std::byte* first)
      : bytes(first), address(cuda::shared_address(first)) {}

  [[nodiscard]] __device__ __forceinline__ std::uint32_t tile(int stage) const {
    return address + stage * Tile::kTileBytes;
  }
  /// 16 bytes of a tile's row.
  [[nodiscard]] __device__ __forceinline__ uint4 chunk(int stage, int row, int which) const {
    return *reinterpret_cast<const uint4*>(bytes + stage * Tile::kTileBytes +
                                           Tile::place(row, which));
  }
  /// Of ScaledBlocks: the scale of columns [128 block, 128 block + 128) of a tile's row.
  [[nodiscard]] __device__ __forceinline__ float scale(int stage, int row, int block) const {
    return *reinterpret_cast<const float*>(bytes + stage * Tile::kTileBytes +
                                           Tile::place(row, kScaleChunk) + 4 * block);
  }
  /// Weights of a row, from key `key` of the tile on.
  template <class Weights>
  [[nodiscard]] __device__ __forceinline__ Weights* weights(int row, int key) const {
    return reinterpret_cast<Weights*>(bytes + Tile::kWeightsAt + row * Tile::kWeightBytes +
                                      (Tile::kScaled ? 4 : 2) * key);
  }
  /// A number of each warp for a row: [warps].
  [[nodiscard]] __device__ __forceinline__ float* of_warps(int row) const {
    return reinterpret_cast<float*>(bytes + Tile::kHighestAt) + row * kWarps;
  }
};

}  // namespace attnbench::mla::few
