// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0

// Compiled once for each instruction set, as vector-inl.h says.
#if defined(ATTNBENCH_BACKENDS_CPU_FLASH_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNBENCH_BACKENDS_CPU_FLASH_PRODUCTS_INL_H_
#undef ATTNBENCH_BACKENDS_CPU_FLASH_PRODUCTS_INL_H_
#else
#define ATTNBENCH_BACKENDS_CPU_FLASH_PRODUCTS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backends/common/kv_convert-inl.h"
#include "backends/cpu_flash/rows_ahead.h"

// The two products of a tile, register-blocked. Rows share every loaded K or V vector; scores lie
// key by key, [keys, ld], so that the softmax runs over rows side by side and the weights of
// neighbouring rows are neighbours for the second product.
HWY_BEFORE_NAMESPACE();
namespace attnbench::cpu_flash::HWY_NAMESPACE {

using namespace attnbench::HWY_NAMESPACE;  // the vectors of backends/common

/// scores[n, r] = q_r . k_n for kRows rows and kKeys keys, while rows [j, j + kKeys) of `ahead` are
/// asked for as far as dk elements reach.
template <DType dtype, int kRows, int kKeys>
HWY_INLINE void dot_block(const float* q, std::int64_t ldq, const std::byte* const* k,
                          std::int64_t dk, float* scores, std::int64_t ld, const RowsAhead& ahead,
                          std::int64_t j) {
  Floats sums[std::size_t{kRows}][std::size_t{kKeys}];
  for (int r = 0; r < kRows; ++r) {
    for (int n = 0; n < kKeys; ++n) sums[r][n] = hn::Zero(F32());
  }
  std::int64_t d = 0;
  // Two vectors cost little more to widen than one.
  if constexpr (dtype == DType::kE4M3 && kRegisters == 32) {
    for (; d + 2 * kLanes <= dk; d += 2 * kLanes) {
      ahead.prefetch_line(j, j + kKeys, d);
      Floats a[std::size_t{kKeys}], b[std::size_t{kKeys}];
      for (int n = 0; n < kKeys; ++n) WidenPair<dtype>::load(k[n] + d, a[n], b[n]);
      for (int r = 0; r < kRows; ++r) {
        const Floats first = load_floats(q + r * ldq + d);
        const Floats second = load_floats(q + r * ldq + d + kLanes);
        for (int n = 0; n < kKeys; ++n) {
          sums[r][n] = hn::MulAdd(first, a[n], sums[r][n]);
          sums[r][n] = hn::MulAdd(second, b[n], sums[r][n]);
        }
      }
    }
  }
  for (; d < dk; d += kLanes) {
    const std::int64_t byte = d * size_bytes(dtype);
    ahead.prefetch_line(j, j + kKeys, byte);
    Floats key[std::size_t{kKeys}];
    for (int n = 0; n < kKeys; ++n) key[n] = Widen<dtype>::load(k[n] + byte);
    for (int r = 0; r < kRows; ++r) {
      const Floats query = load_floats(q + r * ldq + d);
      for (int n = 0; n < kKeys; ++n) sums[r][n] = hn::MulAdd(query, key[n], sums[r][n]);
    }
  }
  if constexpr (kRows == 4) {
    for (int n = 0; n < kKeys; ++n) {
      store_lane_sums(sums[0][n], sums[1][n], sums[2][n], sums[3][n], scores + n * ld);
    }
  } else if constexpr (kRows == 2) {
    for (int n = 0; n < kKeys; n += 2) {
      float s[4];
      store_lane_sums(sums[0][n], sums[1][n], sums[0][n + 1], sums[1][n + 1], s);
      std::memcpy(scores + n * ld, s, sizeof s / 2);
      std::memcpy(scores + (n + 1) * ld, s + 2, sizeof s / 2);
    }
  } else {
    for (int n = 0; n < kKeys; n += 4) {
      float s[4];
      store_lane_sums(sums[0][n], sums[0][n + 1], sums[0][n + 2], sums[0][n + 3], s);
      for (int i = 0; i < 4; ++i) scores[(n + i) * ld] = s[i];
    }
  }
}

/// Keys that one dot_block takes: enough independent sums to hide the latency of an FMA.
[[nodiscard]] constexpr int keys_per_block(int rows) { return rows == 4 ? 3 : rows == 2 ? 4 : 8; }

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

/// scores[n, r] for kKeys keys and kPanels vectors of rows whose queries lie in panels: rows side
/// by side, [dk, lanes]. Rows fill the lanes, so that nothing is summed across them.
template <int kPanels, int kKeys>
HWY_INLINE void panel_block(const float* q, const std::byte* const* k, std::int64_t dk,
                            float* scores, std::int64_t ld) {
  Floats sums[std::size_t{kKeys}][std::size_t{kPanels}];
  for (int n = 0; n < kKeys; ++n) {
    for (int p = 0; p < kPanels; ++p) sums[n][p] = hn::Zero(F32());
  }
  for (std::int64_t d = 0; d < dk; ++d) {
    Floats query[std::size_t{kPanels}];
    for (int p = 0; p < kPanels; ++p) query[p] = load_floats(q + (p * dk + d) * kLanes);
    for (int n = 0; n < kKeys; ++n) {
      float element;
      std::memcpy(&element, k[n] + d * std::int64_t{sizeof element}, sizeof element);
      const Floats key = splat(element);
      for (int p = 0; p < kPanels; ++p) sums[n][p] = hn::MulAdd(query[p], key, sums[n][p]);
    }
  }
  for (int n = 0; n < kKeys; ++n) {
    for (int p = 0; p < kPanels; ++p) store_floats(scores + n * ld + p * kLanes, sums[n][p]);
  }
}

/// The pass-th of `passes` over the same keys; each asks for its share of the rows ahead.
template <int kPanels>
void panel_rows(const float* q, const std::byte* const* k, std::int64_t keys, std::int64_t dk,
                float* scores, std::int64_t ld, const RowsAhead& ahead, std::int64_t pass,
                std::int64_t passes) {
  // Sums, queries and a key fill 16 registers; with twice as many, eight keys end where tiles do.
  constexpr int kKeys = kPanels == 2 && kRegisters == 16 ? 6 : 8;
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
  constexpr std::int64_t kPair = 2 * kLanes;
  const std::int64_t passes = (rows + kPair - 1) / kPair;
  for (std::int64_t pass = 0, r = 0; pass < passes; ++pass, r += kPair) {
    if (r + kLanes < rows) {
      panel_rows<2>(q + r * dk, k, keys, dk, scores + r, ld, ahead, pass, passes);
    } else {
      panel_rows<1>(q + r * dk, k, keys, dk, scores + r, ld, ahead, pass, passes);
    }
  }
}

/// out_r = correction_r * out_r + sum_j weights[j, r] * v_j over kPairs * 2 vectors of columns,
/// while the same columns of the rows of `ahead` are asked for.
template <DType dtype, int kRows, int kPairs>
HWY_INLINE void value_block(const float* weights, std::int64_t ld, const float* correction,
                            const std::byte* const* v, std::int64_t keys, std::int64_t column,
                            float* out, std::int64_t ldo, const RowsAhead& ahead) {
  using Pair = WidenPair<dtype>;
  constexpr std::int64_t kPair = 2 * kLanes;
  constexpr std::int64_t kBytes = kPairs * kPair * size_bytes(dtype);
  const std::int64_t byte = column * size_bytes(dtype);
  const std::int64_t asked = byte % RowsAhead::kLine == 0 ? ahead.count : 0;
  Floats sums[std::size_t{kRows}][std::size_t{2 * kPairs}];
  for (int r = 0; r < kRows; ++r) {
    const Floats factor = splat(correction[r]);
    for (int c = 0; c < kPairs; ++c) {
      Floats a, b;
      Pair::load_floats(out + r * ldo + column + c * kPair, a, b);
      sums[r][2 * c] = a * factor;
      sums[r][2 * c + 1] = b * factor;
    }
  }
  for (std::int64_t j = 0; j < keys; ++j) {
    if (j < asked) {
      for (std::int64_t b = 0; b < kBytes; b += RowsAhead::kLine) {
        __builtin_prefetch(ahead.rows[j] + byte + b);
      }
    }
    for (int c = 0; c < kPairs; ++c) {
      Floats a, b;
      Pair::load(v[j] + byte + c * kPair * size_bytes(dtype), a, b);
      for (int r = 0; r < kRows; ++r) {
        const Floats weight = splat(weights[j * ld + r]);
        sums[r][2 * c] = hn::MulAdd(weight, a, sums[r][2 * c]);
        sums[r][2 * c + 1] = hn::MulAdd(weight, b, sums[r][2 * c + 1]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kPairs; ++c) {
      Pair::store_floats(out + r * ldo + column + c * kPair, sums[r][2 * c], sums[r][2 * c + 1]);
    }
  }
}

/// value_block over a single vector of columns.
template <DType dtype, int kRows>
HWY_INLINE void value_vector(const float* weights, std::int64_t ld, const float* correction,
                             const std::byte* const* v, std::int64_t keys, std::int64_t column,
                             float* out, std::int64_t ldo) {
  Floats sums[std::size_t{kRows}];
  for (int r = 0; r < kRows; ++r) {
    sums[r] = load_floats(out + r * ldo + column) * splat(correction[r]);
  }
  for (std::int64_t j = 0; j < keys; ++j) {
    const Floats value = Widen<dtype>::load(v[j] + column * size_bytes(dtype));
    for (int r = 0; r < kRows; ++r) {
      sums[r] = hn::MulAdd(splat(weights[j * ld + r]), value, sums[r]);
    }
  }
  for (int r = 0; r < kRows; ++r) store_floats(out + r * ldo + column, sums[r]);
}

template <DType dtype, int kRows>
void value_rows(const float* weights, std::int64_t ld, const float* correction,
                const std::byte* const* v, std::int64_t keys, std::int64_t dv, float* out,
                std::int64_t ldo, const RowsAhead& ahead) {
  // Eight sums hide the latency of an FMA; more share each weight, where there are registers.
  constexpr int kPairs = std::min(4, kRegisters / 4 / kRows);
  constexpr std::int64_t kColumns = kPairs * 2 * kLanes;
  std::int64_t column = 0;
  for (; column + kColumns <= dv; column += kColumns) {
    value_block<dtype, kRows, kPairs>(weights, ld, correction, v, keys, column, out, ldo, ahead);
  }
  ahead.prefetch(keys, ahead.count);
  ahead.prefetch(0, std::min(keys, ahead.count), column * size_bytes(dtype));
  for (; column + 2 * kLanes <= dv; column += 2 * kLanes) {
    value_block<dtype, kRows, 1>(weights, ld, correction, v, keys, column, out, ldo, RowsAhead{});
  }
  for (; column < dv; column += kLanes) {
    value_vector<dtype, kRows>(weights, ld, correction, v, keys, column, out, ldo);
  }
}

/// out_r = correction_r * out_r + sum_j weights[j, r] * v_j; dv a multiple of the lanes.
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

/// kRows rows of two vectors of columns, or of one where two do not fit.
template <int kRows>
HWY_INLINE void value_columns(const float* weights, std::int64_t ld, const float* correction,
                              const std::byte* const* v, std::int64_t keys, std::int64_t column,
                              std::int64_t dv, float* out, std::int64_t ldo) {
  if (column + 2 * kLanes <= dv) {
    value_block<DType::kF32, kRows, 1>(weights, ld, correction, v, keys, column, out, ldo,
                                       RowsAhead{});
  } else {
    value_vector<DType::kF32, kRows>(weights, ld, correction, v, keys, column, out, ldo);
  }
}

/// tile_values of many rows over f32 values. Columns outside, so that two vectors of the tile's V
/// and its weights stay in the first-level cache while all rows pass. Twelve sums hide the latency
/// of an FMA with room to spare, and fill 16 registers with V and a weight.
inline void panel_values(const float* weights, std::int64_t ld, std::int64_t rows,
                         const float* correction, const std::byte* const* v, std::int64_t keys,
                         std::int64_t dv, float* out, std::int64_t ldo, const RowsAhead& ahead) {
  constexpr int kRows = kRegisters == 16 ? 6 : 8;
  constexpr std::int64_t kColumns = 2 * kLanes;
  const std::int64_t passes = (dv + kColumns - 1) / kColumns;
  for (std::int64_t pass = 0, column = 0; pass < passes; ++pass, column += kColumns) {
    std::int64_t r = 0;
    for (; r + kRows <= rows; r += kRows) {
      ahead.prefetch_share(pass * rows + r, passes * rows, kRows);
      value_columns<kRows>(weights + r, ld, correction + r, v, keys, column, dv, out + r * ldo,
                           ldo);
    }
    ahead.prefetch_share(pass * rows + r, passes * rows, rows - r);
    if (r + 4 <= rows) {
      value_columns<4>(weights + r, ld, correction + r, v, keys, column, dv, out + r * ldo, ldo);
      r += 4;
    }
    for (; r < rows; ++r) {
      value_columns<1>(weights + r, ld, correction + r, v, keys, column, dv, out + r * ldo, ldo);
    }
  }
}

}  // namespace attnbench::cpu_flash::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
