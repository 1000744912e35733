// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace attnbench {

/// A logarithmic axis: positive values to pixels.
class LogScale {
 public:
  /// Around all of `values`, of which one at least must be positive and finite; others are ignored.
  /// The least value, with some room, lies at `from` pixels, the largest at `to`.
  LogScale(const std::vector<double>& values, double from, double to);

  [[nodiscard]] double operator()(double value) const;
  [[nodiscard]] double lo() const { return lo_; }
  [[nodiscard]] double hi() const { return hi_; }

  /// 1, 2 and 5 times the powers of ten; the powers alone over more than three decades.
  [[nodiscard]] std::vector<double> decimal_ticks() const;
  /// Powers of two, at most nine.
  [[nodiscard]] std::vector<double> binary_ticks() const;

 private:
  double lo_ = 0, hi_ = 0, from_, to_;
};

}  // namespace attnbench
