// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/contents/contents.h"

namespace attnbench {

/// The scores that an indexer gave the units of a query token for one group of heads, the newest
/// last; `row` has scored_units(). Of timing data all rows are nearly normal numbers of 24 bits, as
/// an indexer leaves them. Other fills have four kinds of rows: such ones; few levels, so that many
/// scores are equal, zeros of either sign among them; neighbouring f32 numbers; negative ones. In
/// half of the rows the newest unit has the highest score. Stale units (Selection::stale) have
/// -inf. A timed sample replaces a few scores of some rows (replaced_scores()).
void write_index_scores(const Contents& contents, std::int64_t request, std::int64_t token,
                        std::int64_t group, std::span<float> row);

/// Scores of two neighbouring units of a row.
struct ReplacedScores {
  std::int64_t unit = 0;  ///< the first one
  std::array<float, 2> scores{};
};
/// Where `sample` replaces scores of a row of so many units, and what `contents` have there. Of
/// each two the sample has one above all others of the row and one below them, so that no list
/// stays right. Empty of rows that it leaves as they are.
[[nodiscard]] std::vector<ReplacedScores> replaced_scores(const Contents& sample,
                                                          const Contents& contents,
                                                          std::int64_t request, std::int64_t token,
                                                          std::int64_t group, std::int64_t units);

/// What lies behind the scored units of a row, at column `column`: +inf or NaN, which rank above
/// all scores, so that a selector that ignores the lengths takes them.
[[nodiscard]] float behind_index_scores(std::int64_t column);

}  // namespace attnbench
