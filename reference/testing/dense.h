// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "lib/base/counter_hash.h"
#include "reference/attention_rows.h"

namespace attnbench::reference {

/// Nearly normal entries; equal seeds, equal matrices.
[[nodiscard]] inline RowMatrix random_matrix(std::uint64_t seed, Eigen::Index rows,
                                             Eigen::Index columns) {
  RowMatrix matrix(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index j = 0; j < columns; ++j) {
      matrix(i, j) = static_cast<double>(
          normal_element(row_key(seed, Role::kQ, 0, i, 0), static_cast<std::uint32_t>(j)));
    }
  }
  return matrix;
}

/// A row that sees keys [begin, end).
[[nodiscard]] inline QueryRow sees(std::int64_t begin, std::int64_t end) {
  QueryRow row;
  row.visible.begin = begin;
  row.visible.end = end;
  return row;
}

/// Attention of the one query row `q` over all keys.
[[nodiscard]] inline ReferenceRow attend_all(const RowMatrix& q, const RowMatrix& keys,
                                             const RowMatrix& values, const LogitRule& rule) {
  const QueryRow row = sees(0, keys.rows());
  return attend_rows(q, {&row, 1}, rule, keys, values).front();
}

/// Joins results over disjoint keys by their LSE (Ye et al., FlashInfer's merge_state).
[[nodiscard]] inline ReferenceRow merged(const ReferenceRow& x, const ReferenceRow& y) {
  ReferenceRow sum = x;
  const double shift = std::max(x.lse, y.lse);
  if (shift == -std::numeric_limits<double>::infinity()) return sum;
  sum.lse = shift + std::log(std::exp(x.lse - shift) + std::exp(y.lse - shift));
  for (std::size_t d = 0; d < x.out.size(); ++d) {
    sum.out[d] = std::exp(x.lse - sum.lse) * x.out[d] + std::exp(y.lse - sum.lse) * y.out[d];
  }
  return sum;
}

}  // namespace attnbench::reference
