// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "lib/base/error.h"

namespace attnbench {
namespace {

std::vector<double> sorted(std::span<const double> values) {
  expects(!values.empty(), "a statistic of no values");
  expects(std::ranges::none_of(values, [](double v) { return std::isnan(v); }),
          "a statistic of NaN");
  std::vector<double> copy(values.begin(), values.end());
  std::ranges::sort(copy);
  return copy;
}

/// P(Bin(n, 1/2) = i), through logarithms: 2^-n alone underflows for n > 1074.
double binomial_half(int n, int i) {
  const double log_choose = std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1);
  return std::exp(log_choose - n * std::log(2.0));
}

}  // namespace

double median_of_ordered(std::span<const double> values) {
  expects(!values.empty(), "a median of no values");
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double median(std::span<const double> values) { return median_of_ordered(sorted(values)); }

MedianInterval median_interval_of_ordered(std::span<const double> values, double level) {
  expects(!values.empty(), "an interval of no values");
  const int n = static_cast<int>(values.size());
  MedianInterval interval{values.front(), values.back(), 0, 0};
  // What lies ten standard deviations below the middle adds less than exp(-50) (Hoeffding, Journal
  // of the American Statistical Association 58, 1963): no bit of a coverage.
  const int negligible = std::max(0, static_cast<int>(n / 2.0 - 5 * std::sqrt(n)));
  double below = 0;  // P(Bin(n, 1/2) < k)
  for (int k = negligible + 1; 2 * k <= n + 1; ++k) {
    below += binomial_half(n, k - 1);
    const double coverage = 1 - 2 * below;
    if (k == 1) interval.coverage = std::max(0.0, coverage);
    if (coverage < level) break;
    const auto rank = static_cast<std::size_t>(k - 1);
    interval = {values[rank], values[values.size() - 1 - rank], k, coverage};
  }
  return interval;
}

MedianInterval median_interval(std::span<const double> values, double level) {
  return median_interval_of_ordered(sorted(values), level);
}

int fewest_values(double level) {
  expects(level < 1, "a level that no number of values reaches");
  int n = 1;
  while (1 - 2 * binomial_half(n, 0) < level) ++n;
  return n;
}

double sign_test(int above, int n) {
  double p = 0;
  for (int i = std::max(above, 0); i <= n; ++i) p += binomial_half(n, i);
  return std::min(p, 1.0);
}

std::vector<bool> holm(std::span<const double> p_values, double alpha) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<bool> refused(p_values.size(), false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!(p_values[order[i]] <= alpha / static_cast<double>(order.size() - i))) break;
    refused[order[i]] = true;
  }
  return refused;
}

double quantile(std::span<const double> values, double q) {
  expects(q >= 0 && q <= 1, "a quantile outside [0, 1]");
  const std::vector<double> ordered = sorted(values);
  const double place = q * static_cast<double>(ordered.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, ordered.size() - 1);
  const double part = place - static_cast<double>(below);
  // An exact hit must not meet inf * 0.
  return part == 0 ? ordered[below] : ordered[below] + part * (ordered[above] - ordered[below]);
}

}  // namespace attnbench
