// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <span>
#include <string>
#include <vector>

#include "lib/result/record.h"

namespace attnbench {

/// What cells must share for their times to be compared: they do the same work under the same
/// conditions.
struct ComparisonKey {
  explicit ComparisonKey(const Record& record);

  std::string scenario, case_id;
  StepPart step;
  CacheState cache;
  LaunchMode launch;

  auto operator<=>(const ComparisonKey&) const = default;
};

/// How a cell's time compares with that of the fastest correct one.
struct Ranking {
  enum class Rank {
    kNone,     ///< claims no speed, or is mistrusted
    kFastest,  ///< alone
    kTied,     ///< its 95 % interval overlaps that of the fastest, or it is the fastest itself
    /// The intervals are apart. Without them, each sample took twice as long as any, while other
    /// programs left the processors alone.
    kSlower,
    kOpen,  ///< neither, as an interval is missing or wider than asked for
  };
  Rank rank = Rank::kNone;
  double ratio = 0;  ///< its median over that of the fastest

  [[nodiscard]] bool exists() const { return rank != Rank::kNone; }
  [[nodiscard]] bool is_best() const { return rank == Rank::kFastest || rank == Rank::kTied; }
};

/// One for each record. A cell without competitors is the fastest.
[[nodiscard]] std::vector<Ranking> rankings(std::span<const Record> records);

/// "1.00", "1.01 =" of a tie, "1.03 ?" where that is open; empty where there is none.
[[nodiscard]] std::string ranking_text(const Ranking& ranking);

/// The explanation of ranking_text().
inline constexpr const char* kRankingLegend =
    "vs best: the median over that of the fastest correct backend (=: a tie, the intervals "
    "overlap; ?: open: they overlap and one is wider than asked for; or one is missing, and "
    "samples "
    "are not all twice as long, or other programs were busy)";

/// What a run says, in a sentence: "paged_fa is fastest in 7 of 12 cases, 1.00-1.17 of the best;
/// 3 figures uncertain; mine failed in 2". Only comparisons of two right backends count; empty
/// where there are none. Uncertain: without an interval, or with one wider than asked for.
[[nodiscard]] std::string answer_text(const RunResult& run);

}  // namespace attnbench
