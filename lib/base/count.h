// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/base/error.h"

namespace attnbench {

/// A count that throws instead of wrapping around: ConfigError when a case's work does not fit 63
/// bits.
class Count {
 public:
  constexpr Count(std::int64_t value) : value_(value) {}  // implicit: counts mix with integers

  [[nodiscard]] std::int64_t value() const { return value_; }

  friend Count operator*(Count x, Count y) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(x.value_, y.value_, &product)) too_large();
    return product;
  }
  friend Count operator+(Count x, Count y) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(x.value_, y.value_, &sum)) too_large();
    return sum;
  }
  Count& operator+=(Count other) { return *this = *this + other; }

 private:
  [[noreturn]] static void too_large() {
    throw ConfigError("the case is too large: its bytes or FLOPs do not fit 63 bits");
  }

  std::int64_t value_;
};

}  // namespace attnbench
