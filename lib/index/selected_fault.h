// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace attnbench {

/// What entries of a list are before a selector writes them: neither a unit nor -1.
inline constexpr std::int32_t kUnselected = 0x7fffffff;

/// A list that a selector left: one row of topk_indices and of topk_length.
struct SelectedList {
  std::span<const std::int32_t> indices;
  std::int32_t length = 0;
  /// f32 as its bits, which a selector leaves beside a list whose units are weighed; else empty.
  std::span<const std::int32_t> scores{};
  bool is_padded_in_front = false;  ///< it ends in the last column, and all columns count
};

/// What is wrong with the list of a row that has such scores: "row 5 leaves out key 901 (score
/// 2.31) and takes key 4 (score 2.29)". Right is any list of the highest scores: as many of the
/// scored units as it has room for, none of them twice, none that scores less than one left out,
/// and -1 behind them, or before them where the list is padded in front. A unit that scores -inf is
/// in no list. Which ones of equal scores, and in which order, is open. The length may be left
/// unwritten (kUnbuilt), since it follows from what the row sees, and engines have it at hand.
/// Empty: right. `row` names the row, `unit` is the word for a unit.
[[nodiscard]] std::string fault_of_selected(std::string_view row, std::string_view unit,
                                            std::span<const float> scores,
                                            const SelectedList& list);

}  // namespace attnbench
