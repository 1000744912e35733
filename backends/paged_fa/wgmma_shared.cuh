// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/mbarrier.cuh"
#include "backends/common/cuda/wgmma.cuh"
#include "backends/paged_fa/store.cuh"

// What the warpgroups of a block share.
namespace attnbench::paged_fa::hopper {

inline constexpr int kRows = 128;
inline constexpr int kStages = 2;
inline constexpr int kGroupThreads = 128;
inline constexpr int kConsumers = 2;
inline constexpr int kThreads = (1 + kConsumers) * kGroupThreads;
inline constexpr int kCopyWarps = kGroupThreads / 32;

/// A tile of `kTileRows` rows of `kDim` elements: blocks of 64 columns, each of kTileRows swizzled
/// rows.
template <int kTileRows, int kDim_>
struct TileShape {
  static constexpr int kDim = kDim_;
  static constexpr int kBlocks = kDim / 64;
  static constexpr int kBlockBytes = kTileRows * cuda::kSwizzledRowBytes;
  static constexpr int kBytes = kBlocks * kBlockBytes;
  static constexpr int kWarpRows = kTileRows / kCopyWarps;  ///< copied by one warp
};

/// What a kernel's tiles measure: 227 KB of shared memory hold all of their buffers.
template <int kDk, int kDv>
struct Tiles {
  static constexpr int kStepKeys = kDv > 128 ? 64 : 128;
  static constexpr int kQueryPlaces = kDk > 128 ? 1 : 2;
  using Q = TileShape<kRows, kDk>;
  using K = TileShape<kStepKeys, kDk>;
  using V = TileShape<kStepKeys, kDv>;
};

/// What a block works on next.
struct Work {
  Item item;
  std::int32_t kv_head;  ///< negative: nothing is left
};

/// A place in a ring of buffers; `phase` is the parity of its turns.
template <int kPlaces>
struct Place {
  int index = 0;
  int phase = 0;
  __device__ __forceinline__ void advance() {
    if (++index < kPlaces) return;
    index = 0;
    phase ^= 1;
  }
};
using StagePlace = Place<kStages>;
using WorkPlace = Place<2>;

/// Where things lie in shared memory.
template <class Tiles>
struct Shared {
  static constexpr int kQueryPlaces = Tiles::kQueryPlaces;

  std::uint32_t base;  ///< multiple of 1024
  Work* work;          ///< [2]
  cuda::MergeRoom<kRows>* merge;

  static constexpr int kK = kQueryPlaces * Tiles::Q::kBytes;
  static constexpr int kV = kK + kStages * Tiles::K::kBytes;
  static constexpr int kBarriers = kV + kStages * Tiles::V::kBytes;
  static constexpr int kWork = kBarriers + 8 * (12 + 4 * kStages);
  static constexpr int kMerge = kWork + 2 * static_cast<int>(sizeof(Work));
  static_assert(kMerge % alignof(cuda::MergeRoom<kRows>) == 0);
  static constexpr int kMergeBytes = (static_cast<int>(sizeof(cuda::MergeRoom<kRows>)) + 15) & ~15;
  static constexpr int kBytes = kMerge + kMergeBytes + 1024;  ///< 1024 to align the base
  static_assert(kBytes <= 227 << 10, "what a block of sm_90 can have");

  __device__ __forceinline__ explicit Shared(std::byte* dynamic)
      : base((cuda_address(dynamic) + 1023) & ~1023u),
        work(reinterpret_cast<Work*>(dynamic + (base - cuda_address(dynamic)) + kWork)),
        merge(reinterpret_cast<cuda::MergeRoom<kRows>*>(dynamic + (base - cuda_address(dynamic)) +
                                                        kMerge)) {}

  __device__ __forceinline__ std::uint32_t q(int i) const { return base + i * Tiles::Q::kBytes; }
  __device__ __forceinline__ std::uint32_t k(int stage) const {
    return base + kK + stage * Tiles::K::kBytes;
  }
  __device__ __forceinline__ std::uint32_t v(int stage) const {
    return base + kV + stage * Tiles::V::kBytes;
  }

  // Barriers. "Full" ends when a buffer may be read, "empty" when it may be written again.
  __device__ __forceinline__ std::uint32_t q_full(int i, int group) const {
    return barrier(2 * i + group);
  }
  __device__ __forceinline__ std::uint32_t q_empty(int i, int group) const {
    return barrier(4 + 2 * i + group);
  }
  __device__ __forceinline__ std::uint32_t work_full(int i) const { return barrier(8 + i); }
  __device__ __forceinline__ std::uint32_t work_empty(int i) const { return barrier(10 + i); }
  __device__ __forceinline__ std::uint32_t k_full(int stage) const { return barrier(12 + stage); }
  __device__ __forceinline__ std::uint32_t v_full(int stage) const {
    return barrier(12 + kStages + stage);
  }
  __device__ __forceinline__ std::uint32_t k_empty(int stage) const {
    return barrier(12 + 2 * kStages + stage);
  }
  __device__ __forceinline__ std::uint32_t v_empty(int stage) const {
    return barrier(12 + 3 * kStages + stage);
  }

  /// By one thread, before a barrier of the block.
  __device__ __forceinline__ void init_barriers() const {
    constexpr int kReaders = kConsumers * kGroupThreads / 32;
    for (int i = 0; i < 2; ++i) {
      for (int group = 0; group < kConsumers; ++group) {
        cuda::mbarrier_init(q_full(i, group), kGroupThreads / kConsumers);
        cuda::mbarrier_init(q_empty(i, group), kReaders / kConsumers);
      }
      // Of every thread: those of a warp write and read it by ordinary instructions.
      cuda::mbarrier_init(work_full(i), 32);
      cuda::mbarrier_init(work_empty(i), kThreads);
    }
    for (int stage = 0; stage < kStages; ++stage) {
      cuda::mbarrier_init(k_full(stage), kGroupThreads);
      cuda::mbarrier_init(v_full(stage), kGroupThreads);
      cuda::mbarrier_init(k_empty(stage), kReaders);
      cuda::mbarrier_init(v_empty(stage), kReaders);
    }
    asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
  }

 private:
  __device__ __forceinline__ static std::uint32_t cuda_address(const void* p) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
  }
  __device__ __forceinline__ std::uint32_t barrier(int index) const {
    return base + kBarriers + 8 * index;
  }
};

/// One arrival for the whole warp.
__device__ __forceinline__ void release(std::uint32_t empty) {
  if (threadIdx.x % 32 == 0) cuda::mbarrier_arrive(empty);
}

}  // namespace attnbench::paged_fa::hopper
