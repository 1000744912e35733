// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/mbarrier.cuh"
#include "backends/common/cuda/wgmma.cuh"
#include "backends/common/tiles/item_at.cuh"
#include "backends/mla/params.h"

// What the three warpgroups of a block share. 64 rows; keys come in pairs of tiles of 64. A tile of
// latent rows is nine blocks of 64 columns, each of 64 swizzled rows; its left part is the first
// four blocks, its right part the other five, rope included.
namespace attnbench::mla::hopper {

inline constexpr int kRows = 64;
inline constexpr int kTileKeys = 64;
inline constexpr int kStepKeys = 2 * kTileKeys;
inline constexpr int kDv = 512;
inline constexpr int kHalfDims = kDv / 2;
inline constexpr int kGroupThreads = 128;
inline constexpr int kThreads = 3 * kGroupThreads;
inline constexpr int kPairThreads = 2 * kGroupThreads;  ///< that compute
// What 384 threads of 168 registers allow: 128 * 40 + 256 * 232.
inline constexpr int kProducerRegisters = 40;
inline constexpr int kConsumerRegisters = 232;

inline constexpr int kBlockBytes = 64 * cuda::kSwizzledRowBytes;
inline constexpr int kHalfBlocks = 4;
inline constexpr int kTileBytes = 9 * kBlockBytes;
inline constexpr int kParts = 4;  ///< left and right of two tiles

/// A half of one of the two tiles that are in shared memory.
enum Part : int { kLeft0, kRight0, kLeft1, kRight1 };

/// What a kernel can do, known when it is compiled: code that a step has no use for would cost it
/// registers, and bytes that a cold cache must fetch (results/h200/mla_code_size.md).
template <bool fp8, bool plain, bool fp8_out, bool rope>
struct KernelForm {
  static constexpr bool kFp8 = fp8;         ///< latents in fp8, whose requests can have scales
  static constexpr bool kPlain = plain;     ///< Kernel::plain
  static constexpr bool kFp8Out = fp8_out;  ///< outputs of an fp8 type
  static constexpr bool kRope = rope;       ///< Kernel::rope
};

/// Where things lie in shared memory.
struct Shared {
  std::uint32_t base;  ///< multiple of 1024
  std::byte* bytes;    ///< the same place

  static constexpr int kTilesAt = 2 * kHalfBlocks * kBlockBytes;  // q without its rope columns
  static constexpr int kWeightsAt = kTilesAt + 2 * kTileBytes;
  static constexpr int kBarriersAt = kWeightsAt + 2 * kBlockBytes;
  static constexpr int kHighestAt = kBarriersAt + 8 * (5 + 2 * kParts) + 8;
  static constexpr int kSumsAt = kHighestAt + 2 * kRows * 4;
  static constexpr int kBytes = kSumsAt + 2 * 2 * kRows * 4 + 1024;  // 1024 to align the base

  __device__ __forceinline__ std::uint32_t q() const { return base; }
  __device__ __forceinline__ std::uint32_t tile(int i) const {
    return base + kTilesAt + i * kTileBytes;
  }
  /// Weights of a tile [64, 64].
  __device__ __forceinline__ std::uint32_t weights(int tile) const {
    return base + kWeightsAt + tile * kBlockBytes;
  }
  __device__ __forceinline__ std::uint32_t q_full() const { return base + kBarriersAt; }
  __device__ __forceinline__ std::uint32_t q_empty() const { return q_full() + 8; }
  __device__ __forceinline__ std::uint32_t full(int part) const { return q_full() + 16 + 8 * part; }
  __device__ __forceinline__ std::uint32_t empty(int part) const { return full(kParts + part); }
  /// A tile's weights are there, and their references; all sums are.
  __device__ __forceinline__ std::uint32_t weights_full(int tile) const {
    return empty(kParts + tile);
  }
  __device__ __forceinline__ std::uint32_t sums_full() const { return weights_full(2); }
  /// Highest logits so far as of a tile, per row.
  __device__ __forceinline__ float* highest(int tile) const {
    return reinterpret_cast<float*>(bytes + kHighestAt) + tile * kRows;
  }
  /// A consumer's sums of weights per row; `odd` is that of the item's number.
  __device__ __forceinline__ float* sums(int group, bool odd) const {
    return reinterpret_cast<float*>(bytes + kSumsAt) + (2 * (odd ? 1 : 0) + group) * kRows;
  }
};

/// The items of a block, each cut to the block's 64 of the rows.
class WorkList {
 public:
  const Item* next;
  const Item* end;
  int lane;

  __device__ __forceinline__ explicit WorkList(const Params& p) : p_(p) {
    const int part = static_cast<int>(blockIdx.x) / p.lanes;
    lane = static_cast<int>(blockIdx.x) % p.lanes;
    next = p.items + p.part_begin[part];
    end = p.items + p.part_begin[part + 1];
  }
  __device__ __forceinline__ bool take(Item& item) {
    for (; next != end; ++next) {
      item = tiles::item_at(p_, next);
      item.row_begin += lane * kRows;
      item.rows = min(item.rows - lane * kRows, kRows);
      if (item.rows > 0) return ++next, true;
    }
    return false;
  }

 private:
  const Params& p_;
};

/// Pairs of tiles. What is absent of the last counts as keys that are zero and hidden.
__device__ __forceinline__ int steps_of(const Item& item) {
  return max(1, (item.key_end - item.key_begin + kStepKeys - 1) / kStepKeys);
}

}  // namespace attnbench::mla::hopper
