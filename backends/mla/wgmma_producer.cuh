// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/cp_async.cuh"
#include "backends/common/cuda/ldmatrix.cuh"
#include "backends/mla/latent_rows.cuh"
#include "backends/mla/wgmma_layout.cuh"

namespace attnbench::mla::hopper {

/// One of the four warps that copy: 16 rows of every tile. Eight lanes copy 128 bytes of a row; a
/// lane has four rows, lane / 8 and every fourth from there. Rows in fp8 are
/// widened where they arrive.
template <class T, class Kv, bool kRope>
class Producer {
 public:
  __device__ __forceinline__ Producer(const Params& p, Shared shared)
      : p_(p),
        shared_(shared),
        lane_(static_cast<int>(threadIdx.x % 32)),
        first_row_(static_cast<int>(threadIdx.x % kGroupThreads) / 32 * 16) {
    const int row = first_row_ + lane_ / 8;
    to_ = shared.base +
          static_cast<std::uint32_t>(row * cuda::kSwizzledRowBytes + 16 * (lane_ % 8 ^ (row & 7)));
  }

  __device__ __forceinline__ void run() {
    WorkList work(p_);
    Item item;
    for (int count = 0; work.take(item); ++count) {
      int key = item.key_begin + own_key();
      int page = page_of(item, key);
      copy_queries(item, count);
      const int steps = steps_of(item);
      for (int step = 0; step < steps; ++step, key += kStepKeys) {
        const int next_page = page_of(item, key + kStepKeys);
        const std::int64_t place = page < 0 ? kAbsent : place_of(page, key);
        if constexpr (kWidens) {
          fetch_step(place, step == 0);
        } else {
          const Rows first(p_.k, place, lane_ / 8), second(p_.k, place, 16 + lane_ / 8);
          copy_part<kLeft0>(first);
          copy_part<kRight0>(first);
          copy_part<kLeft1>(second);
          copy_part<kRight1>(second);
        }
        // There is no room for more tiles here, but there is in the second-level cache. Of two
        // blocks that read the same keys each asks for one tile.
        if (p_.lanes == 1 || work.lane == lane_ / 16) prefetch(next_page, key + kStepKeys);
        if (step + 1 == steps && work.next != work.end)
          prefetch_start(tiles::item_at(p_, work.next));
        phase_ ^= 1;
        page = next_page;
      }
      if constexpr (kWidens) {
        cuda::cp_async_wait<0>();
        widen_part<kRight1>();
      }
    }
    cuda::cp_async_wait<0>();
  }

 private:
  static constexpr std::int64_t kAbsent = -1;
  static constexpr bool kWidens = !std::is_same_v<T, Kv>;
  static constexpr bool kScaled = std::is_same_v<Kv, ScaledBlocks>;

  /// What this lane looks up of a step's keys: lanes 0..15 this warp's rows of the first tile, the
  /// others those of the second.
  __device__ __forceinline__ int own_key() const {
    return lane_ / 16 * kTileKeys + first_row_ + lane_ % 16;
  }
  /// -1 beyond the item's keys.
  __device__ __forceinline__ int page_of(const Item& item, int key) const {
    if (key >= item.key_end) return -1;
    return __ldg(p_.block_table + tiles::table_row(item) * p_.block_table_width +
                 (key >> p_.page_shift));
  }
  /// Where a key's row lies.
  __device__ __forceinline__ std::int64_t place_of(int page, int key) const {
    return page * p_.k_page_stride + (key & ((1 << p_.page_shift) - 1)) * p_.k_token_stride;
  }
  __device__ __forceinline__ void prefetch(int page, int key) const {
    if (page < 0) return;
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;\n" ::"l"(p_.k + place_of(page, key)),
                 "n"(kLatentRowBytes<Kv> - (kRope ? 0 : kRopeDims * static_cast<int>(sizeof(Kv))))
                 : "memory");
  }

  /// First step of an item that comes next.
  __device__ __forceinline__ void prefetch_start(const Item& item) const {
    const int key = item.key_begin + own_key();
    prefetch(page_of(item, key), key);
  }

  /// The four rows of a lane.
  struct Rows {
    const std::byte* from[4];
    bool present[4];

    /// Lane `first` and every fourth from there know the places.
    __device__ __forceinline__ Rows(const std::byte* base, std::int64_t place, int first) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::int64_t at = __shfl_sync(~0u, place, first + 4 * i);
        present[i] = at != kAbsent;
        from[i] = base + (present[i] ? at : 0) + 16 * (threadIdx.x % 8);
      }
    }
  };

  /// Columns [64 kFirst, 64 kLast) into the same blocks of what lies kAt bytes into shared memory.
  template <int kAt, int kFirst, int kLast>
  __device__ __forceinline__ void copy(const Rows& rows) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      // Every other of the four is at 4 modulo 8, which the swizzle turns into chunk ^ 4.
      const std::uint32_t to = (to_ ^ (64 * (i % 2))) + kAt + 4 * i * cuda::kSwizzledRowBytes;
#pragma unroll
      for (int block = kFirst; block < kLast; ++block) {
        cuda::cp_async_16(to + block * kBlockBytes, rows.from[i] + block * cuda::kSwizzledRowBytes,
                          rows.present[i]);
      }
    }
  }
  template <Part kPart>
  __device__ __forceinline__ void copy_part(const Rows& rows) const {
    cuda::mbarrier_wait(shared_.empty(kPart), phase_ ^ 1);
    constexpr int kAt = Shared::kTilesAt + kPart / 2 * kTileBytes;
    if constexpr (kPart == kLeft0 || kPart == kLeft1) {
      copy<kAt, 0, kHalfBlocks>(rows);
    } else {
      copy<kAt, kHalfBlocks, 2 * kHalfBlocks + (kRope ? 1 : 0)>(rows);
    }
    cuda::cp_async_arrive(shared_.full(kPart));
  }

  // Rows in fp8 are first copied as they are: this lane's eight numbers of 64 columns to the lower
  // half of the 16 bytes that will hold them wide; where rows have scales, every other block's
  // upper half gets the one that both share.

  /// Blocks of 64 columns in fp8 of a part.
  static constexpr int fp8_blocks(Part part) {
    return is_right(part) && !kScaled ? kHalfBlocks + 1 : kHalfBlocks;
  }
  static constexpr bool is_right(Part part) { return part == kRight0 || part == kRight1; }
  /// Of this lane's row i, in a part's first block.
  template <Part kPart>
  __device__ __forceinline__ std::uint32_t place_in(int i) const {
    return (to_ ^ (64 * (i % 2))) + Shared::kTilesAt + kPart / 2 * kTileBytes +
           (is_right(kPart) ? kHalfBlocks : 0) * kBlockBytes + 4 * i * cuda::kSwizzledRowBytes;
  }

  template <Part kPart>
  __device__ __forceinline__ void fetch_part(std::int64_t place) const {
    constexpr int kFirst = is_right(kPart) ? kHalfBlocks : 0;
    const int lane = static_cast<int>(threadIdx.x % 8);
    cuda::mbarrier_wait(shared_.empty(kPart), phase_ ^ 1);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::int64_t at = __shfl_sync(~0u, place, kPart / 2 * 16 + lane_ / 8 + 4 * i);
      const bool present = at != kAbsent;
      const std::byte* const row = p_.k + (present ? at : 0);
      const std::uint32_t to = place_in<kPart>(i);
#pragma unroll
      for (int block = 0; block < fp8_blocks(kPart); ++block) {
        cuda::cp_async_8(to + block * kBlockBytes, row + 64 * (kFirst + block) + 8 * lane, present);
      }
      if constexpr (kScaled) {
#pragma unroll
        for (int block = 0; block < kHalfBlocks; block += kScaledDims / 64) {
          const int scale = 64 * (kFirst + block) / kScaledDims;
          cuda::cp_async_4(to + block * kBlockBytes + 8, row + kLatentDims + 4 * scale, present);
        }
        if constexpr (is_right(kPart)) {
          constexpr int kRopeAt = kLatentRowBytes<Kv> - 2 * kRopeDims;
          cuda::cp_async_16(to + kHalfBlocks * kBlockBytes, row + kRopeAt + 16 * lane, present);
        }
      }
    }
    cuda::cp_async_commit();
  }
  /// Of a part that has arrived.
  template <Part kPart>
  __device__ __forceinline__ void widen_part() const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t at = place_in<kPart>(i);
      uint2 read[fp8_blocks(kPart)];  // a row's before the first is widened, or each would wait
      float scales[kHalfBlocks] = {};
#pragma unroll
      for (int block = 0; block < fp8_blocks(kPart); ++block) {
        read[block] = load_8(at + block * kBlockBytes);
        if constexpr (kScaled) {
          if (block % 2 == 0)
            scales[block] = __uint_as_float(load_8(at + block * kBlockBytes + 8).x);
        }
      }
#pragma unroll
      for (int block = 0; block < fp8_blocks(kPart); ++block) {
        const float scale = kScaled ? scales[block & ~1] : 1.0f;
        store_16(at + block * kBlockBytes, widen_eight<T, Kv>(read[block], scale));
      }
    }
    cuda::fence_proxy_async();
    cuda::mbarrier_arrive(shared_.full(kPart));
  }
  __device__ __forceinline__ static uint2 load_8(std::uint32_t address) {
    uint2 value;
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];\n"
                 : "=r"(value.x), "=r"(value.y)
                 : "r"(address)
                 : "memory");
    return value;
  }
  __device__ __forceinline__ static void store_16(std::uint32_t address, uint4 value) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};\n" ::"r"(address), "r"(value.x),
                 "r"(value.y), "r"(value.z), "r"(value.w)
                 : "memory");
  }
  /// Fetches a part and widens the one before: that is on its way meanwhile, unless its place is
  /// not free yet. The consumers let go of a part only once they have those before.
  template <Part kNext, Part kPart>
  __device__ __forceinline__ void fetch_and_widen(std::int64_t place) const {
    const bool ahead = __all_sync(~0u, cuda::mbarrier_is_over(shared_.empty(kNext), phase_ ^ 1));
    if (ahead) {
      fetch_part<kNext>(place);
      cuda::cp_async_wait<1>();
    } else {
      cuda::cp_async_wait<0>();
    }
    widen_part<kPart>();
    if (!ahead) fetch_part<kNext>(place);
  }
  __device__ __forceinline__ void fetch_step(std::int64_t place, bool first_step) const {
    if (first_step) {
      fetch_part<kLeft0>(place);
    } else {
      fetch_and_widen<kLeft0, kRight1>(place);
    }
    fetch_and_widen<kRight0, kLeft0>(place);
    fetch_and_widen<kLeft1, kRight0>(place);
    fetch_and_widen<kRight1, kLeft1>(place);
  }

  __device__ __forceinline__ void copy_queries(const Item& item, int count) const {
    std::int64_t place = kAbsent;
    if (first_row_ + lane_ % 16 < item.rows) {
      const int row = item.row_begin + first_row_ + lane_ % 16;
      place = static_cast<std::int64_t>(item.q_begin + row / p_.group) * p_.q_token_stride +
              row % p_.group * p_.q_head_stride;
    }
    const Rows rows(p_.q, place, lane_ / 8);
    cuda::mbarrier_wait(shared_.q_empty(), (count & 1) ^ 1);
    copy<0, 0, 2 * kHalfBlocks>(rows);
    cuda::cp_async_arrive(shared_.q_full());
  }

  const Params& p_;
  Shared shared_;
  int lane_;
  int first_row_;
  std::uint32_t to_;  ///< place of this lane's first row and chunk in a block at shared_.base
  int phase_ = 0;     ///< steps so far, modulo 2
};

}  // namespace attnbench::mla::hopper
