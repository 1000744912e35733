// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/log_scale.h"

#include <cmath>

#include "lib/base/error.h"

namespace attnbench {
namespace {

constexpr double kRoom = 1.5;
constexpr double kFewDecades = 3;
constexpr int kMostBinaryTicks = 9;

}  // namespace

LogScale::LogScale(const std::vector<double>& values, double from, double to)
    : from_(from), to_(to) {
  for (const double value : values) {
    if (!std::isfinite(value) || value <= 0) continue;
    lo_ = lo_ == 0 || value < lo_ ? value : lo_;
    hi_ = value > hi_ ? value : hi_;
  }
  expects(lo_ > 0, "a logarithmic axis has a positive value");
  lo_ /= kRoom;
  hi_ *= kRoom;
}

double LogScale::operator()(double value) const {
  return from_ + (to_ - from_) * std::log(value / lo_) / std::log(hi_ / lo_);
}

std::vector<double> LogScale::decimal_ticks() const {
  const bool few = std::log10(hi_ / lo_) < kFewDecades;
  std::vector<double> ticks;
  for (double power = std::floor(std::log10(lo_)); power <= std::log10(hi_); ++power) {
    for (const double leading : {1.0, 2.0, 5.0}) {
      const double tick = leading * std::pow(10, power);
      if (tick >= lo_ && tick <= hi_ && (few || leading == 1)) ticks.push_back(tick);
    }
  }
  return ticks;
}

std::vector<double> LogScale::binary_ticks() const {
  const int first = static_cast<int>(std::ceil(std::log2(lo_)));
  const int last = static_cast<int>(std::floor(std::log2(hi_)));
  const int step = (last - first) / kMostBinaryTicks + 1;
  std::vector<double> ticks;
  for (int power = first; power <= last; power += step) ticks.push_back(std::exp2(power));
  return ticks;
}

}  // namespace attnbench
