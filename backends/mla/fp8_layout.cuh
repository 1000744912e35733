// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backends/common/cuda/cp_async.cuh"
#include "backends/common/tiles/item_at.cuh"
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

/// An item's keys, and what leads to them.
struct Keys {
  int begin = 0, end = 0;
  int table_row = 0;

  Keys() = default;
  __device__ __forceinline__ Keys(const Params& p, const Item* at) {
    const Item item = tiles::item_at(p, at);
    begin = item.key_begin;
    end = item.key_end;
    table_row = tiles::table_row(item);
  }
  /// An item without keys has a tile, of which no row sees anything.
  [[nodiscard]] __device__ __forceinline__ int tiles() const {
    return max(1, (end - begin + kTileKeys - 1) / kTileKeys);
  }
};

struct Thread {
  int lane = static_cast<int>(threadIdx.x % 32);
  int warp = static_cast<int>(threadIdx.x / 32);

  /// The rows i = 0, 1 of which a lane has columns in an accumulator.
  __device__ __forceinline__ int row(int i) const { return lane / 4 + 8 * i; }
};

/// Copies the tiles of a part's items, one item's after the other's, into the stages in turn. Each
/// warp has 16 rows of a tile.
template <class Kv>
class Copies {
  using Tile = Layout<Kv>;

 public:
  __device__ __forceinline__ Copies(const Params& p, const Item* first, const Item* end,
                                    std::uint32_t shared)
      : p_(p), next_(first), end_(end), shared_(shared) {
    load_keys();
    look_up();
  }

  /// The next tile, as a group of copies of its own; an empty group behind the last.
  __device__ __forceinline__ void start() {
    if (next_ != end_) {
      copy();
      if (++tile_ == keys_.tiles()) {
        tile_ = 0;
        ++next_;
        load_keys();
      }
      look_up();
    }
    cuda::cp_async_commit();
  }

 private:
  static constexpr std::int64_t kAbsent = -1;

  __device__ __forceinline__ void load_keys() {
    if (next_ != end_) keys_ = Keys(p_, next_);
  }
  /// Where a key's row lies: lane % 16 knows that of this warp's. Asked a tile ahead, because the
  /// block table waits for memory.
  __device__ __forceinline__ void look_up() {
    place_ = kAbsent;
    if (next_ == end_) return;
    const int key =
        keys_.begin + tile_ * kTileKeys + kWarpKeys * thread_.warp + thread_.lane % kWarpKeys;
    if (key >= keys_.end) return;
    const int page =
        __ldg(p_.block_table + keys_.table_row * p_.block_table_width + (key >> p_.page_shift));
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
  Keys keys_;  ///< of the next one
  std::uint32_t shared_;
  Thread thread_;
  int tile_ = 0;
  int stage_ = 0;
  std::int64_t place_ = kAbsent;
};

/// The rows of an item as operand A in f16, in the order in which a lane has the numbers of a
/// latent row: of 64 columns, 16 in a row. Rows in bf16 are multiplied by a power of two that
/// brings their largest number into [2^14, 2^15): f16 then holds each that is at least 2^-29 of
/// that exactly, and smaller ones to 2^-40 of it. Not so the rope columns where those of the
/// latents are in bf16, too.
template <class T, class Kv>
class Queries {
 public:
  /// Zeros for rows that the item lacks.
  __device__ __forceinline__ Queries(const Params& p, const Item& item) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      load(i, p, item);
      if constexpr (!std::is_same_v<T, __half>) narrow(i);
    }
  }
  /// 16 columns; which, the caller's words of a latent row decide.
  [[nodiscard]] __device__ __forceinline__ const std::uint32_t (&operand(int step) const)[4] {
    return a_[step];
  }
  /// What products of row i with columns in fp8 are to be multiplied by.
  [[nodiscard]] __device__ __forceinline__ float factor(int i) const { return factor_[i]; }

 private:
  static constexpr int kNarrowed = (Layout<Kv>::kScaled ? kDv : kDk) / 16;

  __device__ __forceinline__ void load(int i, const Params& p, const Item& item) {
    const int row = thread_.row(i);
    const bool real = row < item.rows;
    const int index = item.row_begin + (real ? row : 0);
    const std::byte* const from =
        p.q + static_cast<std::int64_t>(item.q_begin + index / p.group) * p.q_token_stride +
        index % p.group * p.q_head_stride + 32 * (thread_.lane % 4);
#pragma unroll
    for (int block = 0; block < kDk / 64; ++block) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const uint4 eight =
            real ? __ldg(reinterpret_cast<const uint4*>(from + 128 * block + 16 * half)) : uint4{};
        std::uint32_t(&first)[4] = a_[4 * block + 2 * half];
        std::uint32_t(&second)[4] = a_[4 * block + 2 * half + 1];
        first[i] = eight.x;
        first[i + 2] = eight.y;
        second[i] = eight.z;
        second[i + 2] = eight.w;
      }
    }
  }
  __device__ __forceinline__ void narrow(int i) {
    float largest = 0;
#pragma unroll
    for (int step = 0; step < kNarrowed; ++step) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float2 two = cuda::unpack2<T>(a_[step][i + 2 * half]);
        largest = fmaxf(largest, fmaxf(fabsf(two.x), fabsf(two.y)));
      }
    }
    largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 1));
    largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 2));
    const int exponent = (__float_as_int(largest) >> 23) - 127;
    const int raise = min(14 - exponent, 100);  // 2^100 and its inverse are floats
    const float scale = __int_as_float((127 + raise) << 23);
    factor_[i] = __int_as_float((127 - raise) << 23);
#pragma unroll
    for (int step = 0; step < kNarrowed; ++step) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        std::uint32_t& word = a_[step][i + 2 * half];
        const float2 two = cuda::unpack2<T>(word);
        word = cuda::pack2<__half>(two.x * scale, two.y * scale);
      }
    }
  }

  Thread thread_;
  std::uint32_t a_[kDk / 16][4];
  float factor_[2] = {1, 1};
};

}  // namespace attnbench::mla::fp8
