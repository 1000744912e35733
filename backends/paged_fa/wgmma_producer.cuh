// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/cp_async.cuh"
#include "backends/common/cuda/mbarrier.cuh"
#include "backends/common/cuda/tensor_copy.cuh"
#include "backends/common/cuda/wgmma.cuh"
#include "backends/paged_fa/dispatch.cuh"
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

__device__ __forceinline__ int first_key_of(const Item& item, int box_rows) {
  return item.key_begin & -box_rows;
}
template <int kStepKeys>
__device__ __forceinline__ int steps_of(const Item& item, int box_rows) {
  return max(1, (item.key_end - first_key_of(item, box_rows) + kStepKeys - 1) / kStepKeys);
}

/// One of the four warps that copy: a quarter of the rows of every tile. The first also hands out
/// work.
template <class Tiles>
class Producer {
 public:
  __device__ __forceinline__ Producer(const Params& p, const PageMaps& maps, Shared<Tiles> shared)
      : p_(p),
        maps_(maps),
        shared_(shared),
        lane_(static_cast<int>(threadIdx.x % 32)),
        warp_(static_cast<int>(threadIdx.x % kGroupThreads) / 32),
        key_lane_(lane_ % kWarpKeys) {
    // Of four rows at a time, eight lanes have one's 64 columns, 16 bytes each.
    const int row = lane_ / 8, chunk = lane_ % 8;
    to_ = row * cuda::kSwizzledRowBytes + 16 * (chunk ^ row);
  }

  __device__ __forceinline__ void run() {
    if (maps_.rows > 1 && threadIdx.x == 0) {
      cuda::prefetch_map(maps_.k);
      cuda::prefetch_map(maps_.v);
    }
    if (hands_out()) look_up(static_cast<int>(blockIdx.x));
    for (WorkPlace at;; at.advance()) {
      if (hands_out()) offer(at);
      cuda::mbarrier_wait(shared_.work_full(at.index), at.phase);
      const Item item = shared_.work[at.index].item;
      const int kv_head = shared_.work[at.index].kv_head;
      cuda::mbarrier_arrive(shared_.work_empty(at.index));
      if (kv_head < 0) return;
      const int index = hands_out() ? take() : 0;
      if (item.rows > 0) {
        load(item, kv_head, index);
      } else if (hands_out()) {
        look_up(__shfl_sync(~0u, index, 0));
      }
    }
  }

 private:
  static constexpr std::uint32_t kAbsent = ~0u;
  static constexpr int kStepKeys = Tiles::kStepKeys;
  static constexpr int kWarpKeys = Tiles::K::kWarpRows;

  __device__ __forceinline__ bool hands_out() const { return warp_ == 0; }

  /// The index of this block's next item; known to lane 0 only, and not waited for.
  __device__ __forceinline__ int take() const {
    return lane_ == 0 ? static_cast<int>(gridDim.x) + atomicAdd(p_.taken, 1) : 0;
  }

  /// Which item and head come `index`th: some heads at a time, so that their keys stay in the
  /// second-level cache, and of these the longest items first.
  __device__ __forceinline__ void look_up(int index) {
    constexpr int kWords = sizeof(Item) / sizeof(int);
    const int all = p_.num_items * p_.heads_kv;
    next_head_ = -1;
    if (index < all) {
      const int together = p_.heads_together * p_.num_items;
      const int first_head = index / together * p_.heads_together, rest = index % together;
      const int heads = min(p_.heads_together, p_.heads_kv - first_head);
      next_head_ = first_head + rest % heads;
      if (lane_ < kWords) {
        next_word_ = __ldg(reinterpret_cast<const int*>(p_.items + rest / heads) + lane_);
      }
    } else if (lane_ == 0 && index == all + static_cast<int>(gridDim.x) - 1) {
      *p_.taken = 0;  // the last block that finds no item resets it
    }
  }

  __device__ __forceinline__ void offer(WorkPlace at) const {
    static_assert(sizeof(Item) % sizeof(int) == 0);
    cuda::mbarrier_wait(shared_.work_empty(at.index), at.phase ^ 1);
    Work& work = shared_.work[at.index];
    if (lane_ < static_cast<int>(sizeof(Item) / sizeof(int))) {
      reinterpret_cast<int*>(&work.item)[lane_] = next_word_;
    }
    if (lane_ == 0) work.kv_head = next_head_;
    cuda::mbarrier_arrive(shared_.work_full(at.index));
  }

  __device__ __forceinline__ void load(const Item& item, int kv_head, int index) {
    const std::int32_t* const pages = p_.page_table + item.sequence * p_.page_table_stride;
    const int steps = steps_of<kStepKeys>(item, maps_.rows);
    first_key_row_ = p_.first_rows == nullptr ? 0 : __ldg(p_.first_rows + item.sequence);
    int key = first_key_of(item, maps_.rows) + warp_ * kWarpKeys + key_lane_;
    const auto page_of = [&](int at) {
      if (at >= item.key_end) return -1;
      if (p_.page_table == nullptr) return 0;  // ragged keys
      return __ldg(pages + (p_.page_shift >= 0 ? at >> p_.page_shift : at / p_.page_size));
    };
    int page = page_of(key), next_page = page_of(key + kStepKeys);
    copy_k(page, key, kv_head);
    copy_q(item, kv_head);
    for (int i = 0; i < steps; ++i, key += kStepKeys) {
      if (i + 1 < steps) copy_k(next_page, key + kStepKeys, kv_head);
      copy_v(page, key, kv_head);
      page = next_page;
      next_page = page_of(key + 2 * kStepKeys);
      if (i == 0 && hands_out()) look_up(__shfl_sync(~0u, index, 0));
    }
  }

  __device__ __forceinline__ void copy_k(int page, int key, int kv_head) {
    cuda::mbarrier_wait(shared_.k_empty(k_.index), k_.phase ^ 1);
    copy_pages<typename Tiles::K>(page, key, kv_head, p_.k + kv_head * p_.k_head_stride,
                                  p_.k_page_stride, p_.k_token_stride, maps_.k, shared_.k(k_.index),
                                  shared_.k_full(k_.index));
    k_.advance();
  }
  __device__ __forceinline__ void copy_v(int page, int key, int kv_head) {
    cuda::mbarrier_wait(shared_.v_empty(v_.index), v_.phase ^ 1);
    copy_pages<typename Tiles::V>(page, key, kv_head, p_.v + kv_head * p_.v_head_stride,
                                  p_.v_page_stride, p_.v_token_stride, maps_.v, shared_.v(v_.index),
                                  shared_.v_full(v_.index));
    v_.advance();
  }
  __device__ __forceinline__ void copy_q(const Item& item, int kv_head) {
    const int row = warp_ * Tiles::Q::kWarpRows + lane_, group = row / 64;
    cuda::mbarrier_wait(shared_.q_empty(q_.index, group), q_.phase ^ 1);
    std::uint32_t offset = kAbsent;
    if (row < item.rows) {
      const RowPlace place = place_of(p_, item, kv_head, row);
      offset = static_cast<std::uint32_t>(query_offset(p_, item, place) >> 5);
    }
    copy_rows<typename Tiles::Q>(offset, p_.q, shared_.q(q_.index),
                                 shared_.q_full(q_.index, group));
    q_.advance();
  }

  /// A warp's keys of a tile, of which every lane holds one and its page.
  template <class Tile>
  __device__ __forceinline__ void copy_pages(int page, int key, int kv_head, const std::byte* from,
                                             std::int64_t page_stride, std::int64_t token_stride,
                                             const CUtensorMap& map, std::uint32_t tile,
                                             std::uint32_t full) {
    const int rest =
        first_key_row_ + (p_.page_shift >= 0 ? key & (p_.page_size - 1) : key % p_.page_size);
    const bool whole = __all_sync(~0u, page >= 0);
    if (maps_.rows > 1 && whole) {
      if (lane_ == 0) {
        cuda::mbarrier_arrive_expect(full, kWarpKeys * Tile::kBlocks * cuda::kSwizzledRowBytes);
        cuda::mbarrier_arrive(full, 31);
      }
      __syncwarp();
      // A box for each 64 columns of each group of `rows` lanes, whose first lanes see to them.
      const int in_group = lane_ & (maps_.rows - 1);
      const int group_page = __shfl_sync(~0u, page, lane_ - in_group);
      if (lane_ < kWarpKeys && in_group < Tile::kBlocks) {
        cuda::copy_box(tile + in_group * Tile::kBlockBytes +
                           (warp_ * kWarpKeys + lane_ - in_group) * cuda::kSwizzledRowBytes,
                       map, 64 * in_group, rest - in_group, kv_head, group_page, full);
      }
      return;
    }
    std::uint32_t offset = kAbsent;
    if (page >= 0) {
      offset = static_cast<std::uint32_t>((page * page_stride + rest * token_stride) >> 5);
    }
    copy_rows<Tile>(offset, from, tile, full);
  }

  /// Starts copying a warp's rows, whose offsets the lanes hold; zeros where there is none.
  template <class Tile>
  __device__ __forceinline__ void copy_rows(std::uint32_t offset, const std::byte* from,
                                            std::uint32_t tile, std::uint32_t full) const {
    const std::byte* column = from + 16 * (lane_ % 8);
    asm volatile("" : "+l"(column));  // one addition less per row
    tile += warp_ * Tile::kWarpRows * cuda::kSwizzledRowBytes;
    constexpr int kFours = Tile::kWarpRows / 4;
    std::uint32_t at[kFours];  // known before the first copy, or each would wait for its own
#pragma unroll
    for (int i = 0; i < kFours; ++i) at[i] = __shfl_sync(~0u, offset, 4 * i + lane_ / 8);
#pragma unroll
    for (int i = 0; i < kFours; ++i) {
      const bool real = at[i] != kAbsent;
      const std::byte* const row = column + static_cast<std::uint64_t>(real ? at[i] : 0) * 32;
      // The upper four rows of an atom: bit 2 of the swizzle.
      const std::uint32_t to = tile + ((to_ + 4 * i * cuda::kSwizzledRowBytes) ^ (64 * (i % 2)));
#pragma unroll
      for (int block = 0; block < Tile::kBlocks; ++block) {
        cuda::cp_async_16(to + block * Tile::kBlockBytes, row + block * cuda::kSwizzledRowBytes,
                          real);
      }
    }
    cuda::cp_async_arrive(full);
  }

  const Params& p_;
  const PageMaps& maps_;
  Shared<Tiles> shared_;
  int lane_;
  int warp_;
  int key_lane_;  ///< which of the warp's keys of a tile
  std::uint32_t to_;
  StagePlace k_, v_;
  Place<Tiles::kQueryPlaces> q_;
  int first_key_row_ = 0;  ///< of ragged keys
  int next_head_ = -1;
  int next_word_ = 0;  ///< of the next item, one in each lane
};

}  // namespace attnbench::paged_fa::hopper
