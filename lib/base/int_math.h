// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace attnbench {

/// Quotient rounded up, for a >= 0 and b > 0.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// `a` rounded up to a multiple of b, for a >= 0 and b > 0.
[[nodiscard]] constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) {
  return ceil_div(a, b) * b;
}

/// A count that is not negative, as the standard containers want it.
[[nodiscard]] constexpr std::size_t to_size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

}  // namespace attnbench
