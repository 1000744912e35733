// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/cp_async.cuh"
#include "backends/mla/fp8_layout.cuh"

namespace attnbench::mla::fp8 {

/// Copies the tiles of a part's items, one item's after the other's, into the stages in turn. Each
/// warp has 16 rows of a tile.
template <class Kv>
class Copies {
  using Tile = Layout<Kv>;

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
  /// A row's 512 columns by all lanes, then what is behind them of all rows.
  __device__ __forceinline__ void copy() {
    constexpr int kRest = Tile::kRowBytes / 16 - kLatentChunks;
    const std::uint32_t to = shared_ + stage_ * Tile::kTileBytes;
#pragma unroll
    for (int row = 0; row < kWarpKeys; ++row) copy_chunk(to, row, thread_.lane);
#pragma unroll
    for (int i = 0; i < kWarpKeys * kRest; i += 32) {
      const int at = min(i + thread_.lane, kWarpKeys * kRest - 1);
      copy_chunk(to, at / kRest, kLatentChunks + at % kRest);
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
  std::uint32_t shared_;
  Thread thread_;
  int tile_ = 0;
  int stage_ = 0;
  std::int64_t place_ = kAbsent;
};

}  // namespace attnbench::mla::fp8
