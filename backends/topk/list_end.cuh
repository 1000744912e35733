// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/batch/index_scores.h"

namespace attnbench::topk {

/// What stands behind the selected units of a row's list: its tail, where lists have one, and -1.
template <bool kTails>
struct ListEnd {
  int selected;            ///< units
  int topk;                ///< most of them: all columns but the tail's
  std::int32_t tail = -1;  ///< -1: none

  __device__ __forceinline__ ListEnd(const IndexScores& scores, std::int64_t row, int units,
                                     int columns)
      : topk(kTails ? columns - 1 : columns) {
    selected = min(units, topk);
    if constexpr (kTails) tail = scores.tails[row / scores.groups];
  }

  /// topk_length.
  [[nodiscard]] __device__ int length() const { return selected + (tail >= 0 ? 1 : 0); }
  /// What column `column` holds, behind the units of a row that are all in its list.
  [[nodiscard]] __device__ std::int32_t behind_units(int column) const {
    return kTails && column == selected ? tail : -1;
  }
};

}  // namespace attnbench::topk
