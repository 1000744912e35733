// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "lib/measure/measure.h"
#include "lib/measure/statistics.h"

namespace attnbench {

/// One cell's time over another's, from the rounds that visited both: what changes from round to
/// round (clocks, neighbours, temperature) is in both and cancels.
struct PairedRatio {
  int pairs = 0;      ///< rounds that have a block of both
  double median = 0;  ///< exp of the median of ln(second / first)
  double lo = 0;      ///< order-statistic interval of that median, of the level asked for
  double hi = 0;
  double largest = 0;  ///< of a single round, in whichever direction; at least 1
  int slower = 0;      ///< pairs in which the second took longer
  int faster = 0;      ///< and those in which it took less

  /// Whether lo and hi can be a 95 % interval: six pairs or more.
  [[nodiscard]] bool has_interval() const { return pairs >= kFewestRounds; }
  /// How far from 1 the ratio of two equal cells may be: the farther end of the interval, less 1.
  /// A difference below it is noise. 0 without an interval.
  [[nodiscard]] double floor() const;
};

/// Blocks that hold no time (zero, NaN) pair with nothing.
[[nodiscard]] PairedRatio paired_ratio(std::span<const BlockMedian> first,
                                       std::span<const BlockMedian> second,
                                       double level = kIntervalLevel);

}  // namespace attnbench
