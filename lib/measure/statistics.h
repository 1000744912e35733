// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace attnbench {

/// Median of `values` (mean of the middle two when even). Throws InternalError when empty or NaN.
[[nodiscard]] double median(std::span<const double> values);

/// Distribution-free confidence interval of a median: the k-th smallest and k-th largest value, k
/// the largest with coverage 1 - 2 P(Bin(n, 1/2) < k) >= level. Fewer values
/// than such an interval needs give the whole range and the coverage it really has.
struct MedianInterval {
  double lo = 0;
  double hi = 0;
  int k = 0;  ///< 1-based order statistic; 0 when no k reaches the level
  double coverage = 0;
};
[[nodiscard]] MedianInterval median_interval(std::span<const double> values, double level);

/// Linear interpolation between order statistics, q in [0, 1].
[[nodiscard]] double quantile(std::span<const double> values, double q);

}  // namespace attnbench
