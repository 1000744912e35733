// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "backends/common/kv_convert.h"
#include "backends/common/simd.h"

// The two products of a tile, register-blocked. Rows share every loaded K or V vector; scores lie
// key by key, [keys, ld], so that the softmax runs over rows side by side and the weights of
// neighbouring rows are neighbours for the second product.
namespace attnbench {

/// Rows that are read soon, asked for while something else is computed. Pages lie anywhere, so the
/// processor's own prefetchers see no pattern to follow. A core keeps track of some two dozen
/// missing lines and stops at the next: kernels ask for few at a time, all along.
struct RowsAhead {
  static constexpr std::int64_t kLine = 64;

  const std::byte* const* rows = nullptr;
  std::int64_t count = 0;
  std::int64_t bytes = 0;  ///< of each

  /// Asks for bytes [from, bytes) of rows [begin, end), as far as there are any.
  ATTNBENCH_INLINE void prefetch(std::int64_t begin, std::int64_t end,
                                 std::int64_t from = 0) const {
    for (std::int64_t j = begin; j < end && j < count; ++j) {
      for (std::int64_t b = from; b < bytes; b += kLine) __builtin_prefetch(rows[j] + b);
    }
  }

  /// Asks for shares [share, share + n) of the rows, of which there are `shares`.
  ATTNBENCH_INLINE void prefetch_share(std::int64_t share, std::int64_t shares,
                                       std::int64_t n = 1) const {
    prefetch(count * share / shares, count * (share + n) / shares);
  }
};

/// scores[n, r] = q_r . k_n for kRows rows and kKeys keys, while rows [j, j + kKeys) of `ahead` are
/// asked for as far as dk elements reach.
template <DType dtype, int kRows, int kKeys>
ATTNBENCH_INLINE void dot_block(const float* q, std::int64_t ldq, const std::byte* const* k,
                                std::int64_t dk, float* scores, std::int64_t ld,
                                const RowsAhead& ahead, std::int64_t j) {
  using simd::f32x8;
  f32x8 sums[std::size_t{kRows}][std::size_t{kKeys}] = {};
  for (std::int64_t d = 0; d < dk; d += simd::kLanes) {
    const std::int64_t byte = d * size_bytes(dtype);
    if (byte % RowsAhead::kLine == 0 && byte < ahead.bytes) {
      for (std::int64_t n = j; n < j + kKeys && n < ahead.count; ++n) {
        __builtin_prefetch(ahead.rows[n] + byte);
      }
    }
    f32x8 key[std::size_t{kKeys}];
    for (int n = 0; n < kKeys; ++n) key[n] = Widen<dtype>::load8(k[n] + d * size_bytes(dtype));
    for (int r = 0; r < kRows; ++r) {
      const f32x8 query = simd::load8(q + r * ldq + d);
      for (int n = 0; n < kKeys; ++n) sums[r][n] += query * key[n];
    }
  }
  if constexpr (kRows == 4) {
    for (int n = 0; n < kKeys; ++n) {
      const simd::f32x4 s = simd::lane_sums(sums[0][n], sums[1][n], sums[2][n], sums[3][n]);
      std::memcpy(scores + n * ld, &s, sizeof s);
    }
  } else if constexpr (kRows == 2) {
    for (int n = 0; n < kKeys; n += 2) {
      const simd::f32x4 s = simd::lane_sums(sums[0][n], sums[1][n], sums[0][n + 1], sums[1][n + 1]);
      std::memcpy(scores + n * ld, &s, sizeof s / 2);
      scores[(n + 1) * ld] = s[2];
      scores[(n + 1) * ld + 1] = s[3];
    }
  } else {
    for (int n = 0; n < kKeys; n += 4) {
      const simd::f32x4 s =
          simd::lane_sums(sums[0][n], sums[0][n + 1], sums[0][n + 2], sums[0][n + 3]);
      for (int i = 0; i < 4; ++i) scores[(n + i) * ld] = s[i];
    }
  }
}

/// Keys that one dot_block takes: enough independent sums to hide the latency of an FMA.
[[nodiscard]] constexpr int keys_per_block(int rows) { return rows == 4 ? 3 : rows == 2 ? 4 : 8; }

/// Key pointers and score rows must reach this far beyond a tile's keys.
inline constexpr std::int64_t kKeySlack = 8;

template <DType dtype, int kRows>
void dot_rows(const float* q, std::int64_t ldq, const std::byte* const* k, std::int64_t keys,
              std::int64_t dk, float* scores, std::int64_t ld, const RowsAhead& ahead) {
  constexpr int kKeys = keys_per_block(kRows);
  for (std::int64_t j = 0; j < keys; j += kKeys) {
    dot_block<dtype, kRows, kKeys>(q, ldq, k + j, dk, scores + j * ld, ld, ahead, j);
  }
}

/// scores[j, r] = q_r . k_j. Key pointers up to keys + kKeySlack must be readable; scores beyond
/// `keys` are overwritten.
template <DType dtype>
void tile_scores(const float* q, std::int64_t ldq, std::int64_t rows, const std::byte* const* k,
                 std::int64_t keys, std::int64_t dk, float* scores, std::int64_t ld,
                 const RowsAhead& ahead) {
  const RowsAhead none;
  std::int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    dot_rows<dtype, 4>(q + r * ldq, ldq, k, keys, dk, scores + r, ld, r == 0 ? ahead : none);
  }
  if (r + 2 <= rows) {
    dot_rows<dtype, 2>(q + r * ldq, ldq, k, keys, dk, scores + r, ld, r == 0 ? ahead : none);
    r += 2;
  }
  if (r < rows) {
    dot_rows<dtype, 1>(q + r * ldq, ldq, k, keys, dk, scores + r, ld, r == 0 ? ahead : none);
  }
}

/// scores[n, r] for kKeys keys and kPanels * 8 rows whose queries lie in panels: eight rows side by
/// side, [dk, 8]. Rows fill the lanes, so that nothing is summed across them.
template <int kPanels, int kKeys>
ATTNBENCH_INLINE void panel_block(const float* q, const std::byte* const* k, std::int64_t dk,
                                  float* scores, std::int64_t ld) {
  using simd::f32x8;
  f32x8 sums[std::size_t{kKeys}][std::size_t{kPanels}] = {};
  for (std::int64_t d = 0; d < dk; ++d) {
    f32x8 query[std::size_t{kPanels}];
    for (int p = 0; p < kPanels; ++p) query[p] = simd::load8(q + (p * dk + d) * simd::kLanes);
    for (int n = 0; n < kKeys; ++n) {
      float element;
      std::memcpy(&element, k[n] + d * std::int64_t{sizeof element}, sizeof element);
      const f32x8 key = simd::splat(element);
      for (int p = 0; p < kPanels; ++p) sums[n][p] += query[p] * key;
    }
  }
  for (int n = 0; n < kKeys; ++n) {
    for (int p = 0; p < kPanels; ++p) simd::store8(scores + n * ld + p * simd::kLanes, sums[n][p]);
  }
}

/// The pass-th of `passes` over the same keys; each asks for its share of the rows ahead.
template <int kPanels>
void panel_rows(const float* q, const std::byte* const* k, std::int64_t keys, std::int64_t dk,
                float* scores, std::int64_t ld, const RowsAhead& ahead, std::int64_t pass,
                std::int64_t passes) {
  constexpr int kKeys = kPanels == 2 ? 6 : 8;  // sums, queries and a key fill the 16 registers
  const std::int64_t blocks = (keys + kKeys - 1) / kKeys;
  for (std::int64_t block = 0; block < blocks; ++block) {
    ahead.prefetch_share(pass * blocks + block, passes * blocks);
    const std::int64_t j = block * kKeys;
    if (j + 4 < keys) {
      panel_block<kPanels, kKeys>(q, k + j, dk, scores + j * ld, ld);
    } else {
      panel_block<kPanels, 4>(q, k + j, dk, scores + j * ld, ld);
    }
  }
}

/// tile_scores of many rows over f32 keys; q in panels, the last one filled up with zeros.
inline void panel_scores(const float* q, std::int64_t rows, const std::byte* const* k,
                         std::int64_t keys, std::int64_t dk, float* scores, std::int64_t ld,
                         const RowsAhead& ahead) {
  constexpr std::int64_t kPair = 2 * simd::kLanes;
  const std::int64_t passes = (rows + kPair - 1) / kPair;
  for (std::int64_t pass = 0, r = 0; pass < passes; ++pass, r += kPair) {
    if (r + simd::kLanes < rows) {
      panel_rows<2>(q + r * dk, k, keys, dk, scores + r, ld, ahead, pass, passes);
    } else {
      panel_rows<1>(q + r * dk, k, keys, dk, scores + r, ld, ahead, pass, passes);
    }
  }
}

/// out_r = correction_r * out_r + sum_j weights[j, r] * v_j over kVectors * 8 columns, while the
/// same columns of the rows of `ahead` are asked for.
template <DType dtype, int kRows, int kVectors>
ATTNBENCH_INLINE void value_block(const float* weights, std::int64_t ld, const float* correction,
                                  const std::byte* const* v, std::int64_t keys, std::int64_t column,
                                  float* out, std::int64_t ldo, const RowsAhead& ahead) {
  using simd::f32x8;
  constexpr std::int64_t kBytes = kVectors * simd::kLanes * size_bytes(dtype);
  const std::int64_t byte = column * size_bytes(dtype);
  const std::int64_t asked = byte % RowsAhead::kLine == 0 ? ahead.count : 0;
  f32x8 sums[std::size_t{kRows}][std::size_t{kVectors}];
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kVectors; ++c) {
      sums[r][c] = simd::load8(out + r * ldo + column + c * simd::kLanes) * correction[r];
    }
  }
  for (std::int64_t j = 0; j < keys; ++j) {
    if (j < asked) {
      for (std::int64_t b = 0; b < kBytes; b += RowsAhead::kLine) {
        __builtin_prefetch(ahead.rows[j] + byte + b);
      }
    }
    f32x8 value[std::size_t{kVectors}];
    for (int c = 0; c < kVectors; ++c) {
      value[c] = Widen<dtype>::load8(v[j] + (column + c * simd::kLanes) * size_bytes(dtype));
    }
    for (int r = 0; r < kRows; ++r) {
      const f32x8 weight = simd::splat(weights[j * ld + r]);
      for (int c = 0; c < kVectors; ++c) sums[r][c] += weight * value[c];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kVectors; ++c) {
      simd::store8(out + r * ldo + column + c * simd::kLanes, sums[r][c]);
    }
  }
}

template <DType dtype, int kRows>
void value_rows(const float* weights, std::int64_t ld, const float* correction,
                const std::byte* const* v, std::int64_t keys, std::int64_t dv, float* out,
                std::int64_t ldo, const RowsAhead& ahead) {
  constexpr int kVectors = 8 / kRows;  // eight sums hide the latency of an FMA
  constexpr std::int64_t kColumns = kVectors * simd::kLanes;
  std::int64_t column = 0;
  for (; column + kColumns <= dv; column += kColumns) {
    value_block<dtype, kRows, kVectors>(weights, ld, correction, v, keys, column, out, ldo, ahead);
  }
  ahead.prefetch(keys, ahead.count);
  ahead.prefetch(0, std::min(keys, ahead.count), column * size_bytes(dtype));
  for (; column < dv; column += simd::kLanes) {
    value_block<dtype, kRows, 1>(weights, ld, correction, v, keys, column, out, ldo, RowsAhead{});
  }
}

/// out_r = correction_r * out_r + sum_j weights[j, r] * v_j; dv a multiple of 8.
template <DType dtype>
void tile_values(const float* weights, std::int64_t ld, std::int64_t rows, const float* correction,
                 const std::byte* const* v, std::int64_t keys, std::int64_t dv, float* out,
                 std::int64_t ldo, const RowsAhead& ahead) {
  const RowsAhead none;
  std::int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    value_rows<dtype, 4>(weights + r, ld, correction + r, v, keys, dv, out + r * ldo, ldo,
                         r == 0 ? ahead : none);
  }
  if (r + 2 <= rows) {
    value_rows<dtype, 2>(weights + r, ld, correction + r, v, keys, dv, out + r * ldo, ldo,
                         r == 0 ? ahead : none);
    r += 2;
  }
  if (r < rows) {
    value_rows<dtype, 1>(weights + r, ld, correction + r, v, keys, dv, out + r * ldo, ldo,
                         r == 0 ? ahead : none);
  }
}

/// All rows' kVectors * 8 columns, the pass-th of `passes`. Six rows and two vectors: twelve sums
/// hide the latency of an FMA with room to spare, and fill the 16 registers with V and a weight.
template <int kVectors>
void value_column(const float* weights, std::int64_t ld, std::int64_t rows, const float* correction,
                  const std::byte* const* v, std::int64_t keys, std::int64_t column, float* out,
                  std::int64_t ldo, const RowsAhead& ahead, std::int64_t pass,
                  std::int64_t passes) {
  const RowsAhead none;
  std::int64_t r = 0;
  for (; r + 6 <= rows; r += 6) {
    ahead.prefetch_share(pass * rows + r, passes * rows, 6);
    value_block<DType::kF32, 6, kVectors>(weights + r, ld, correction + r, v, keys, column,
                                          out + r * ldo, ldo, none);
  }
  ahead.prefetch_share(pass * rows + r, passes * rows, rows - r);
  if (r + 4 <= rows) {
    value_block<DType::kF32, 4, kVectors>(weights + r, ld, correction + r, v, keys, column,
                                          out + r * ldo, ldo, none);
    r += 4;
  }
  for (; r < rows; ++r) {
    value_block<DType::kF32, 1, kVectors>(weights + r, ld, correction + r, v, keys, column,
                                          out + r * ldo, ldo, none);
  }
}

/// tile_values of many rows over f32 values. Columns outside, so that 16 columns of the tile's V
/// and its weights stay in the first-level cache while all rows pass.
inline void panel_values(const float* weights, std::int64_t ld, std::int64_t rows,
                         const float* correction, const std::byte* const* v, std::int64_t keys,
                         std::int64_t dv, float* out, std::int64_t ldo, const RowsAhead& ahead) {
  constexpr std::int64_t kColumns = 2 * simd::kLanes;
  const std::int64_t passes = (dv + kColumns - 1) / kColumns;
  for (std::int64_t pass = 0, column = 0; pass < passes; ++pass, column += kColumns) {
    if (column + kColumns <= dv) {
      value_column<2>(weights, ld, rows, correction, v, keys, column, out, ldo, ahead, pass,
                      passes);
    } else {
      value_column<1>(weights, ld, rows, correction, v, keys, column, out, ldo, ahead, pass,
                      passes);
    }
  }
}

}  // namespace attnbench
