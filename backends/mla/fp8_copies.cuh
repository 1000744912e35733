// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/cp_async.cuh"
#include "backends/mla/fp8_layout.cuh"

namespace attnbench::mla::fp8 {

/// Copies the tiles of a part's items, one item's after the other's, into the stages in turn. Each
/// warp has 16 rows of a tile.
class Copies {
 public:
  __device__ __forceinline__ Copies(const Params& p, const Item* first, const Item* end,
                                    std::uint32_t shared)
      : p_(p), next_(first), end_(end), shared_(shared) {
    look_up();
  }

  /// The next tile, as a group of copies of its own; an empty group behind the last.
  __device__ __forceinline__ void start() {
    if (next_ != end_) {
      copy();
      if (++tile_ == tiles_of(*next_)) tile_ = 0, ++next_;
      look_up();
    }
    cuda::cp_async_commit();
  }

 private:
  static constexpr std::int64_t kAbsent = -1;

  /// Where a key's row lies: lane % 16 knows that of this warp's. Asked a tile ahead, because the
  /// block table waits for memory.
  __device__ __forceinline__ void look_up() {
    place_ = kAbsent;
    if (next_ == end_) return;
    const int key =
        next_->key_begin + tile_ * kTileKeys + kWarpKeys * thread_.warp + thread_.lane % kWarpKeys;
    if (key >= next_->key_end) return;
    const int page =
        __ldg(p_.block_table + next_->request * p_.block_table_width + (key >> p_.page_shift));
    place_ = page * p_.k_page_stride + (key & ((1 << p_.page_shift) - 1)) * p_.k_token_stride;
  }
  /// A row's 512 columns by all lanes, then the rope columns of eight rows at a time.
  __device__ __forceinline__ void copy() {
    const std::uint32_t to = shared_ + stage_ * kTileBytes;
    const int first_row = kWarpKeys * thread_.warp;
#pragma unroll
    for (int i = 0; i < kWarpKeys; ++i) copy_chunk(to, first_row + i, i, thread_.lane);
#pragma unroll
    for (int i = 0; i < kWarpKeys; i += 8) {
      const int own = i + thread_.lane / 4;
      copy_chunk(to, first_row + own, own, kDv / 16 + thread_.lane % 4);
    }
    stage_ = stage_ + 1 == kStages ? 0 : stage_ + 1;
  }
  __device__ __forceinline__ void copy_chunk(std::uint32_t to, int row, int own, int chunk) const {
    const std::int64_t at = __shfl_sync(~0u, place_, own);
    cuda::cp_async_16(to + place(row, chunk), p_.k + (at == kAbsent ? 0 : at) + 16 * chunk,
                      at != kAbsent);
  }

  const Params& p_;
  const Item* next_;
  const Item* end_;
  std::uint32_t shared_;
  Thread thread_;
  int tile_ = 0;
  int stage_ = 0;
  std::int64_t place_ = kAbsent;
};

}  // namespace attnbench::mla::fp8
