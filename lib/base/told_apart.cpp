// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/told_apart.h"

#include <fmt/format.h>

#include <limits>

namespace attnbench {

std::pair<std::string, std::string> told_apart(double a, double b) {
  for (int digits = 4;; ++digits) {
    std::string first = fmt::format("{:.{}g}", a, digits);
    std::string second = fmt::format("{:.{}g}", b, digits);
    const bool as_good_as_it_gets = a == b || digits == std::numeric_limits<double>::max_digits10;
    if (first != second || as_good_as_it_gets) return {std::move(first), std::move(second)};
  }
}

}  // namespace attnbench
