// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/common/kv_convert.h"
#include "backends/common/simd.h"

// The two products of a tile, register-blocked. Rows share every loaded K or V vector; scores lie
// key by key, [keys, ld], so that the softmax runs over rows side by side and the weights of
// neighbouring rows are neighbours for the second product.
namespace attnbench {

/// scores[n, r] = q_r . k_n for kRows rows and kKeys keys.
template <DType dtype, int kRows, int kKeys>
ATTNBENCH_INLINE void dot_block(const float* q, std::int64_t ldq, const std::byte* const* k,
                                std::int64_t dk, float* scores, std::int64_t ld) {
  using simd::f32x8;
  f32x8 sums[std::size_t{kRows}][std::size_t{kKeys}] = {};
  for (std::int64_t d = 0; d < dk; d += simd::kLanes) {
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

/// Rows that are read soon, asked for while something else is computed. Pages lie anywhere, so the
/// processor's own prefetchers see no pattern to follow.
struct RowsAhead {
  const std::byte* const* rows = nullptr;
  std::int64_t count = 0;
  std::int64_t bytes = 0;  ///< of each

  /// Asks for rows [begin, end), as far as there are any.
  ATTNBENCH_INLINE void prefetch(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t j = begin; j < end && j < count; ++j) {
      for (std::int64_t b = 0; b < bytes; b += 64) __builtin_prefetch(rows[j] + b);
    }
  }
};

template <DType dtype, int kRows>
void dot_rows(const float* q, std::int64_t ldq, const std::byte* const* k, std::int64_t keys,
              std::int64_t dk, float* scores, std::int64_t ld, const RowsAhead& ahead) {
  constexpr int kKeys = keys_per_block(kRows);
  for (std::int64_t j = 0; j < keys; j += kKeys) {
    ahead.prefetch(j, j + kKeys);
    dot_block<dtype, kRows, kKeys>(q, ldq, k + j, dk, scores + j * ld, ld);
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

template <int kPanels>
void panel_rows(const float* q, const std::byte* const* k, std::int64_t keys, std::int64_t dk,
                float* scores, std::int64_t ld, const RowsAhead& ahead) {
  constexpr int kKeys = kPanels == 2 ? 6 : 8;  // sums, queries and a key fill the 16 registers
  for (std::int64_t j = 0; j < keys; j += kKeys) {
    ahead.prefetch(j, j + kKeys);
    panel_block<kPanels, kKeys>(q, k + j, dk, scores + j * ld, ld);
  }
}

/// tile_scores of many rows over f32 keys; q in panels, the last one filled up with zeros.
inline void panel_scores(const float* q, std::int64_t rows, const std::byte* const* k,
                         std::int64_t keys, std::int64_t dk, float* scores, std::int64_t ld,
                         const RowsAhead& ahead) {
  const RowsAhead none;
  std::int64_t r = 0;
  for (; r + simd::kLanes < rows; r += 2 * simd::kLanes) {
    panel_rows<2>(q + r * dk, k, keys, dk, scores + r, ld, r == 0 ? ahead : none);
  }
  if (r < rows) panel_rows<1>(q + r * dk, k, keys, dk, scores + r, ld, r == 0 ? ahead : none);
}

/// out_r = correction_r * out_r + sum_j weights[j, r] * v_j over kVectors * 8 columns.
template <DType dtype, int kRows, int kVectors>
ATTNBENCH_INLINE void value_block(const float* weights, std::int64_t ld, const float* correction,
                                  const std::byte* const* v, std::int64_t keys, std::int64_t column,
                                  float* out, std::int64_t ldo) {
  using simd::f32x8;
  f32x8 sums[std::size_t{kRows}][std::size_t{kVectors}];
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kVectors; ++c) {
      sums[r][c] = simd::load8(out + r * ldo + column + c * simd::kLanes) * correction[r];
    }
  }
  for (std::int64_t j = 0; j < keys; ++j) {
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
  const std::int64_t share = ahead.count * kColumns / dv + 1;  // per block of columns
  std::int64_t column = 0, asked = 0;
  for (; column + kColumns <= dv; column += kColumns, asked += share) {
    ahead.prefetch(asked, asked + share);
    value_block<dtype, kRows, kVectors>(weights, ld, correction, v, keys, column, out, ldo);
  }
  ahead.prefetch(asked, ahead.count);
  for (; column < dv; column += simd::kLanes) {
    value_block<dtype, kRows, 1>(weights, ld, correction, v, keys, column, out, ldo);
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

}  // namespace attnbench
