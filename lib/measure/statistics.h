// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

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

/// Both of values in ascending order, which is not checked: for whoever asks again after each new
/// value.
[[nodiscard]] double median_of_ordered(std::span<const double> values);
[[nodiscard]] MedianInterval median_interval_of_ordered(std::span<const double> values,
                                                        double level);

/// The fewest values whose whole range covers their median with `level`: 6 for 0.95, 8 for 0.99.
[[nodiscard]] int fewest_values(double level);

/// The level of the intervals of medians that results hold.
inline constexpr double kIntervalLevel = 0.95;
/// fewest_values() of it: the whole range of five medians holds their median with
/// 1 - 2 / 2^5 = 93.75 % only.
inline constexpr int kFewestRounds = 6;

/// One-sided sign test: P(Bin(n, 1/2) >= above), the chance that at least `above` of `n` signs are
/// positive where both signs are equally likely.
[[nodiscard]] double sign_test(int above, int n);

/// Holm's step-down procedure: which hypotheses are refused so that the chance to refuse any true
/// one is at most `alpha` (Holm, Scandinavian Journal of Statistics 6, 1979).
[[nodiscard]] std::vector<bool> holm(std::span<const double> p_values, double alpha);

/// Linear interpolation between order statistics, q in [0, 1].
[[nodiscard]] double quantile(std::span<const double> values, double q);

}  // namespace attnbench
