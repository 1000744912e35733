// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cascade/plan.h"

#include "backends/common/cuda/kv_convert.cuh"
#include "backends/common/cuda/merge_pieces.cuh"
#include "backends/common/cuda/output_rows.cuh"
#include "backends/common/cuda/pack_fp8.cuh"
#include "lib/device/cuda/check.cuh"

namespace attnbench::cascade {
namespace {

constexpr int kWarps = 4;

/// Results [first, first + count) of one KV head; of each, row `row`.
struct Parts {
  std::int64_t first = 0;
  int count = 0;
  int row = 0;
};

/// Column d of a row of fp8 or of T.
template <class T>
__device__ __forceinline__ void store(DType dtype, std::byte* row, int d, float value) {
  if (size_bytes(dtype) == 1) {
    row[d] = static_cast<std::byte>(cuda::pack_fp8(dtype, float2{value, 0}) & 0xffu);
  } else {
    reinterpret_cast<T*>(row)[d] = cuda::narrow_to<T>(value);
  }
}

/// One warp a row; a lane has every 32nd column.
template <class T>
__global__ void merge_kernel(const __grid_constant__ Merge p) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int row = static_cast<int>(blockIdx.z * kWarps + threadIdx.x / 32);
  const MergeTile tile = p.tiles[blockIdx.x];
  if (row >= tile.rows) return;
  const auto kv_head = static_cast<int>(blockIdx.y);
  const cuda::RowPlace place = cuda::place_of(p, tile.q_begin, kv_head, tile.row_begin + row);

  const auto parts_of_level = [&](int level) {
    const LevelRows& rows = p.levels[tile.levels_first + level];
    const int node_row = rows.row + row;
    return Parts{std::int64_t{kv_head} * p.prefix.per_head + rows.first +
                     std::int64_t{node_row / p.prefix_tile_rows} * rows.count,
                 rows.count, node_row % p.prefix_tile_rows};
  };
  const Parts suffix{std::int64_t{kv_head} * p.suffix.per_head + tile.suffix_first,
                     tile.suffix_count, row};

  cuda::LseMerge merge;
  merge.add(cuda::sink_of(p, place.head));
  const auto add_lses = [&](const Partials& from, const Parts& parts) {
    for (int i = 0; i < parts.count; ++i) {
      merge.add(from.lse[(parts.first + i) * from.rows + parts.row]);
    }
  };
  for (int level = 0; level < tile.levels_count; ++level) {
    add_lses(p.prefix, parts_of_level(level));
  }
  add_lses(p.suffix, suffix);

  float out[8] = {};
  const int columns = p.head_dim_v / 32;
  const auto add_outs = [&](const Partials& from, const Parts& parts) {
    for (int i = 0; i < parts.count; ++i) {
      const std::int64_t at = (parts.first + i) * from.rows + parts.row;
      const float weight = merge.weight(from.lse[at]);
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        if (c < columns) out[c] += weight * from.out[at * p.head_dim_v + 32 * c + lane];
      }
    }
  };
  for (int level = 0; level < tile.levels_count; ++level) {
    add_outs(p.prefix, parts_of_level(level));
  }
  add_outs(p.suffix, suffix);

  std::byte* const to = cuda::out_row(p, place);
  const float factor = cuda::out_factor(p, 0, kv_head);  // requests that share rows have no own
#pragma unroll
  for (int c = 0; c < 8; ++c) {
    if (c < columns) store<T>(p.out_dtype, to, 32 * c + lane, out[c] * factor);
  }
  if (lane == 0) cuda::store_lse(p, place, merge.lse());
}

}  // namespace

void launch(const Merge& merge, void* stream) {
  const dim3 blocks{static_cast<unsigned>(merge.num_tiles), static_cast<unsigned>(merge.heads_kv),
                    static_cast<unsigned>((merge.tile_rows + kWarps - 1) / kWarps)};
  const auto launch = [&](auto* kernel) {
    kernel<<<blocks, 32 * kWarps, 0, static_cast<cudaStream_t>(stream)>>>(merge);
  };
  if (merge.dtype == DType::kF16) {
    launch(merge_kernel<__half>);
  } else {
    launch(merge_kernel<__nv_bfloat16>);
  }
  check_launch("cascade merge");
}

}  // namespace attnbench::cascade
