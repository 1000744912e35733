// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/cp_async.cuh"
#include "backends/mla/few_layout.cuh"

namespace attnbench::mla::few {

/// Copies the tiles of a part's items, one item's after the other's, into the stages in turn. Each
/// warp has an eighth of a tile's rows.
template <class Kv>
class Copies {
  using Tile = Layout<Kv>;

 public:
  __device__ __forceinline__ Copies(const Params& p, const Item* first, const Item* end,
                                    Shared<Kv> shared)
      : p_(p), next_(first), end_(end), shared_(shared) {
    look_up();
  }

  /// The next tile, as a group of copies of its own; an empty group behind the last.
  __device__ __forceinline__ void start() {
    if (next_ != end_) {
      copy();
      if (++tile_ == Tile::tiles_of(*next_)) tile_ = 0, ++next_;
      look_up();
    }
    cuda::cp_async_commit();
  }

 private:
  static constexpr std::int64_t kAbsent = -1;
  static constexpr int kWarpKeys = Tile::kWarpKeys;

  /// Where a key's row lies: the first lanes, and others in turn, know those of this warp's. Asked
  /// a tile ahead, because the block table waits for memory.
  __device__ __forceinline__ void look_up() {
    place_ = kAbsent;
    if (next_ == end_) return;
    const int key = next_->key_begin + tile_ * Tile::kTileKeys + kWarpKeys * thread_.warp +
                    thread_.lane % kWarpKeys;
    if (key >= next_->key_end) return;
    const int page =
        __ldg(p_.block_table + next_->request * p_.block_table_width + (key >> p_.page_shift));
    place_ = page * p_.k_page_stride + (key & ((1 << p_.page_shift) - 1)) * p_.k_token_stride;
  }
  /// As much of each row as all lanes copy at a time, then what is left of all rows.
  __device__ __forceinline__ void copy() {
    constexpr int kChunks = Tile::kRowBytes / 16, kRest = kChunks % 32;
    const std::uint32_t to = shared_.tile(stage_);
#pragma unroll
    for (int row = 0; row < kWarpKeys; ++row) {
#pragma unroll
      for (int chunk = 0; chunk < kChunks - kRest; chunk += 32) {
        copy_chunk(to, row, chunk + thread_.lane);
      }
    }
#pragma unroll
    for (int i = 0; i < kWarpKeys * kRest; i += 32) {
      const int at = min(i + thread_.lane, kWarpKeys * kRest - 1);
      copy_chunk(to, at / kRest, kChunks - kRest + at % kRest);
    }
    stage_ = stage_ + 1 == Tile::kStages ? 0 : stage_ + 1;
  }
  /// Of this warp's row `row`.
  __device__ __forceinline__ void copy_chunk(std::uint32_t to, int row, int chunk) const {
    const std::int64_t at = __shfl_sync(~0u, place_, row);
    cuda::cp_async_16(to + Tile::place(kWarpKeys * thread_.warp + row, chunk),
                      p_.k + (at == kAbsent ? 0 : at) + 16 * chunk, at != kAbsent);
  }

  const Params& p_;
  const Item* next_;
  const Item* end_;
  Shared<Kv> shared_;
  Thread thread_;
  int tile_ = 0;
  int stage_ = 0;
  std::int64_t place_ = kAbsent;
};

}  // namespace attnbench::mla::few
