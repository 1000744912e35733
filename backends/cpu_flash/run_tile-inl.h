// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0

// Compiled once for each instruction set, as vector-inl.h says.
#if defined(ATTNBENCH_BACKENDS_CPU_FLASH_RUN_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNBENCH_BACKENDS_CPU_FLASH_RUN_TILE_INL_H_
#undef ATTNBENCH_BACKENDS_CPU_FLASH_RUN_TILE_INL_H_
#else
#define ATTNBENCH_BACKENDS_CPU_FLASH_RUN_TILE_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "backends/cpu_flash/bf16_dots-inl.h"
#include "backends/cpu_flash/online_softmax-inl.h"
#include "backends/cpu_flash/products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnbench::cpu_flash::HWY_NAMESPACE {

/// Widens rows into `to` and points at the copies, which end in whole vectors.
template <DType dtype>
void convert_rows(const std::byte** rows, std::int64_t keys, std::int64_t dim, float* to) {
  const std::int64_t width = padded(dim, kLanes);
  for (std::int64_t j = 0; j < keys; ++j) {
    float* row = to + j * (width + kRowGap);
    widen_row<dtype>(rows[j], row, dim);
    std::fill(row + dim, row + width, 0.0f);
    rows[j] = reinterpret_cast<const std::byte*>(row);
  }
}

/// Scores of K as stored in `k_type`, or in bf16 where queries lie for its dot products.
template <DType k_type>
void scores_of_tile(const TileWork& w, const RowPointers& tile, const RowsAhead& ahead) {
  const Scratch& s = w.s;
  const std::int64_t dk = w.g.padded_dk, ld = w.g.padded_rows;
  switch (w.queries) {
    case QueryLayout::kRows:
      return tile_scores<k_type>(s.q, dk, w.rows, tile.k, tile.keys, dk, s.scores, ld, ahead);
    case QueryLayout::kPanels:
      return panel_scores(s.q, w.rows, tile.k, tile.keys, dk, s.scores, ld, ahead);
#if HWY_TARGET == HWY_AVX3
    case QueryLayout::kBf16Chunks:
      return bf16_chunk_scores(s.q, w.rows, tile.k, tile.keys, w.g.dk, s.scores, ld, ahead);
    case QueryLayout::kBf16Panels:
      return bf16_panel_scores(s.q, w.rows, tile.k, tile.keys, w.g.dk, s.scores, ld, ahead);
#else
    default:
      return;  // Kernels::bf16_dots is false
#endif
  }
}

template <DType v_type>
void values_of_tile(const TileWork& w, const RowPointers& tile, const RowsAhead& ahead) {
  const auto product =
      v_type == DType::kF32 && w.rows > kDirectRows ? panel_values : tile_values<v_type>;
  product(w.s.scores, w.g.padded_rows, w.rows, w.s.rows.correction, tile.v, tile.keys,
          w.g.padded_dv, w.s.out, w.g.out_stride, ahead);
}

/// `k_bytes`: of a row of K as it is stored.
template <DType dtype>
void run_tile_of(const TileWork& w, RowPointers& tile, const RowPointers& next, std::int32_t first,
                 std::int64_t k_bytes) {
  constexpr bool kFloats = dtype == DType::kF32;
  const Geometry& g = w.g;
  const bool read_once = kFloats || w.rows <= kDirectRows;
  const bool bf16 = w.queries == QueryLayout::kBf16Chunks || w.queries == QueryLayout::kBf16Panels;
  const bool k_as_stored = bf16 || (read_once && g.dk == g.padded_dk);
  const bool v_as_stored = read_once && g.dv == g.padded_dv;

  if (!k_as_stored) {
    convert_rows<dtype>(tile.k, tile.keys, g.dk, w.s.k);
    for (std::int64_t j = 0; j < kKeySlack; ++j) tile.k[tile.keys + j] = tile.k[tile.keys - 1];
  }
  if (!v_as_stored && w.mla && !k_as_stored) {
    std::copy_n(tile.k, tile.keys, tile.v);  // one copy is K and V at once
  } else if (!v_as_stored) {
    convert_rows<dtype>(tile.v, tile.keys, g.dv, w.s.v);
  }

  const std::int64_t v_bytes = w.mla ? 0 : g.dv * size_bytes(dtype);  // MLA: K's row is V's
  const RowsAhead this_v{tile.v, tile.keys, v_bytes};
  const RowsAhead next_k{next.k, next.keys, k_bytes};
  const RowsAhead next_v{next.v, next.keys, v_bytes};
  const bool one_by_one = v_as_stored && !w.whole_rows;
  const RowsAhead& during_scores = one_by_one ? this_v : next_k;
  const RowsAhead& during_values = one_by_one ? next_k : next_v;

  if (k_as_stored) {
    scores_of_tile<dtype>(w, tile, during_scores);
  } else {
    scores_of_tile<DType::kF32>(w, tile, during_scores);
  }
  online_softmax(w.s.scores, g.padded_rows, w.rows, tile.keys, first, w.s.rows, w.rule);
  if (v_as_stored) {
    values_of_tile<dtype>(w, tile, during_values);
  } else {
    values_of_tile<DType::kF32>(w, tile, during_values);
  }
}

template <DType dtype>
void run_plain_tile(const TileWork& w, RowPointers& tile, const RowPointers& next,
                    std::int32_t first) {
  run_tile_of<dtype>(w, tile, next, first, w.g.dk * size_bytes(dtype));
}

/// Rows with scales of blocks are widened whatever the number of queries, and then a tile of
/// floats.
inline void run_block_tile(const TileWork& w, RowPointers& tile, const RowPointers& next,
                           std::int32_t first) {
  const std::int64_t stride = w.g.padded_dk + kRowGap;
  for (std::int64_t j = 0; j < tile.keys; ++j) {
    float* row = w.s.k + j * stride;
    widen_block_row(w.blocks, tile.k[j], tile.v[j], row, w.g.dk);
    tile.k[j] = tile.v[j] = reinterpret_cast<const std::byte*>(row);
  }
  for (std::int64_t j = 0; j < kKeySlack; ++j) tile.k[tile.keys + j] = tile.k[tile.keys - 1];
  run_tile_of<DType::kF32>(w, tile, next, first, w.blocks.bytes);
}

inline void run_tile(const TileWork& work, RowPointers& tile, const RowPointers& next,
                     std::int32_t first) {
  if (work.blocks.exists()) return run_block_tile(work, tile, next, first);
  switch (work.dtype) {
    case DType::kF32:
      return run_plain_tile<DType::kF32>(work, tile, next, first);
    case DType::kF16:
      return run_plain_tile<DType::kF16>(work, tile, next, first);
    case DType::kBF16:
      return run_plain_tile<DType::kBF16>(work, tile, next, first);
    case DType::kE4M3:
      return run_plain_tile<DType::kE4M3>(work, tile, next, first);
    case DType::kE5M2:
      return run_plain_tile<DType::kE5M2>(work, tile, next, first);
  }
}

}  // namespace attnbench::cpu_flash::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
