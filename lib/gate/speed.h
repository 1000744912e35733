// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "lib/gate/gate_verdict.h"
#include "lib/measure/measure.h"

namespace attnbench {

/// A ratio new / base with an interval of its median; 1 is equal.
struct RatioInterval {
  double median = 1, lo = 1, hi = 1;
};

/// What was measured of one cell's new time against its base time.
struct SpeedEvidence {
  double base_us = 0, new_us = 0;
  RatioInterval time;
  std::optional<RatioInterval> cycles;  ///< of time x clock, where both sides know their clock
  bool paired = false;
  int pairs = 0;   ///< that the interval rests on
  int slower = 0;  ///< pairs in which the new side took longer
  int faster = 0;  ///< and those in which it took less
};

/// Base and new side of one moment: of a pair of fresh processes, or of one round.
struct TimedPair {
  double base_us = 0, new_us = 0;
  double base_mhz = 0, new_mhz = 0;  ///< 0: not known
};

/// The 99 % order-statistic interval of the median ratio. A pair without two times does not count.
[[nodiscard]] SpeedEvidence evidence_of(std::span<const TimedPair> pairs);

/// Rounds that visited both cells of one run are pairs.
[[nodiscard]] std::vector<TimedPair> pairs_by_round(const CellTiming& base, const CellTiming& now);

/// Of two separate runs: the ends of the two 95 % intervals over each other. Together they are
/// wider than a 95 % interval of the ratio.
[[nodiscard]] SpeedEvidence evidence_of(const CellTiming& base, const CellTiming& now);

/// From which change on a cell counts as changed.
struct SpeedLimits {
  double effect = 0.02;   ///< part of the base time
  double floor_us = 0.5;  ///< the step of a GPU's event timer
  double aa_spread = 0;   ///< by how far two equal cells of this kind differed (--aa); 0: unknown

  /// max(effect, 3 x aa_spread, floor_us / base_us).
  [[nodiscard]] double edge(double base_us) const;
};

/// With edge() = e:
///   REGRESSED     lo > 1 and median > 1 + e, and lo > 1 in clock cycles, too
///   IMPROVED      the mirror image: hi < 1 and median < 1 / (1 + e)
///   SAME          the whole interval within 1 / (1 + e) and 1 + e
///   INCONCLUSIVE  everything else
[[nodiscard]] Judgement judge_speed(const SpeedEvidence& evidence, const SpeedLimits& limits);

/// A change between separate runs that is worth a confirmation by pairs: the medians differ by
/// more than this, or the two intervals lie further apart than half of it.
inline constexpr double kSuspectChange = 0.01;

/// For runs that cannot decide (one after the other): SUSPECT where judge_speed might say
/// REGRESSED after a confirmation, else what judge_speed says.
[[nodiscard]] Judgement screen_speed(const SpeedEvidence& evidence, const SpeedLimits& limits);

/// Above this many suspects some will look slower by chance.
inline constexpr std::size_t kMostUncorrected = 50;
inline constexpr double kFamilyError = 0.05;

/// One cell that was judged from pairs.
struct JudgedSpeed {
  SpeedEvidence evidence;
  Judgement judgement;
};
/// With more than kMostUncorrected cells: what is REGRESSED or IMPROVED, but not by Holm's
/// procedure on one-sided sign tests at kFamilyError in either direction, becomes INCONCLUSIVE.
/// Returns whether it was applied.
bool correct_for_many(std::span<JudgedSpeed> cells);

}  // namespace attnbench
