// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/paired_ratio.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace attnbench {
namespace {

bool holds_time(const BlockMedian& block) { return std::isfinite(block.us) && block.us > 0; }

}  // namespace

double PairedRatio::floor() const { return has_interval() ? std::max(hi, 1 / lo) - 1 : 0; }

PairedRatio paired_ratio(std::span<const BlockMedian> first, std::span<const BlockMedian> second,
                         double level) {
  std::vector<double> logs;
  double largest = 0;
  for (const BlockMedian& block : second) {
    const auto partner = std::ranges::find(first, block.round, &BlockMedian::round);
    if (partner == first.end() || !holds_time(*partner) || !holds_time(block)) continue;
    logs.push_back(std::log(block.us / partner->us));
    largest = std::max(largest, std::abs(logs.back()));
  }
  PairedRatio ratio;
  if (logs.empty()) return ratio;
  const MedianInterval interval = median_interval(logs, level);
  ratio.slower = static_cast<int>(std::ranges::count_if(logs, [](double r) { return r > 0; }));
  ratio.faster = static_cast<int>(std::ranges::count_if(logs, [](double r) { return r < 0; }));
  ratio.pairs = static_cast<int>(logs.size());
  ratio.median = std::exp(median(logs));
  ratio.lo = std::exp(interval.lo);
  ratio.hi = std::exp(interval.hi);
  ratio.largest = std::exp(largest);
  return ratio;
}

}  // namespace attnbench
