// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/trend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "lib/measure/statistics.h"

namespace attnbench {
namespace {

using Values = std::span<const double>;

constexpr double kCertainty = 3.5;  ///< standard deviations

double distance(Values values, double level) {
  double sum = 0;
  for (const double value : values) sum += std::abs(value - level);
  return sum;
}

/// The first value of the right side, of those that leave `fewest` values on each side, where
/// cost(left, right) is the least.
template <class Cost>
std::size_t cheapest_split(Values values, std::size_t fewest, const Cost& cost) {
  std::size_t cheapest = fewest;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t at = fewest; at + fewest <= values.size(); ++at) {
    const double now = cost(values.first(at), values.subspan(at));
    if (now >= least) continue;
    least = now;
    cheapest = at;
  }
  return cheapest;
}

/// Of a series with room for two levels. Where the levels are known, they say best which run is of
/// which: a new level of four runs would otherwise begin with a fifth that is not of it.
std::size_t best_split(Values values) {
  const std::size_t at = cheapest_split(values, kFewestRunsOfALevel, [](Values left, Values right) {
    return distance(left, median(left)) + distance(right, median(right));
  });
  const double before = median(values.first(at)), after = median(values.subspan(at));
  return cheapest_split(values, 1, [&](Values left, Values right) {
    return distance(left, before) + distance(right, after);
  });
}

bool is_change(Values before, Values after, double noise) {
  if (std::min(before.size(), after.size()) < kFewestRunsOfALevel) return false;
  const double fewer_is_noisier = 1 / static_cast<double>(before.size()) +  //
                                  1 / static_cast<double>(after.size());
  const double of_medians = noise * std::sqrt(std::numbers::pi / 2 * fewer_is_noisier);
  return std::abs(median(after) - median(before)) >
         std::max(std::log1p(kSmallestChange), kCertainty * of_medians);
}

/// Appends the changes of values[begin, end).
void segment(Values values, std::size_t begin, std::size_t end, double noise,
             std::vector<std::size_t>& changes) {
  if (end - begin < 2 * kFewestRunsOfALevel) return;
  const std::size_t at = begin + best_split(values.subspan(begin, end - begin));
  if (!is_change(values.subspan(begin, at - begin), values.subspan(at, end - at), noise)) return;
  segment(values, begin, at, noise, changes);
  changes.push_back(at);
  segment(values, at, end, noise, changes);
}

}  // namespace

double noise_of(std::span<const double> values) {
  if (values.size() < 2) return 0;
  std::vector<double> steps;
  for (std::size_t i = 1; i < values.size(); ++i) {
    steps.push_back(std::abs(values[i] - values[i - 1]));
  }
  return 1.4826 * median(steps) / std::numbers::sqrt2;
}

std::vector<std::size_t> change_points(std::span<const double> values) {
  std::vector<std::size_t> changes;
  segment(values, 0, values.size(), noise_of(values), changes);
  return changes;
}

}  // namespace attnbench
