// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "lib/view/json.h"

namespace attnbench {

/// Digits of base 64, those of RFC 4648 in its order: a number is a text of fixed width, the most
/// significant digit first.
inline constexpr std::string_view kDigits64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Of a number in `figures`: four digits of base 64 hold its code, 0 of null, 1 of zero, else
// kFirstCode + (mantissa - 10000) + 90000 * (exponent - kLeastExponent) of mantissa * 10^exponent.
inline constexpr std::size_t kFigureWidth = 4;
inline constexpr int kLeastMantissa = 10'000, kMantissas = 90'000;  // five decimal digits
inline constexpr int kLeastExponent = -93, kMostExponent = 92;
inline constexpr int kFirstCode = 2;
static_assert(kFirstCode + kMantissas * (kMostExponent - kLeastExponent + 1) <= 1 << 24);

/// The values of a column of a table, one for each row, in the shorter of two forms; a page of
/// 50,000 cells is a tenth as long with them:
///   {"values": [...], "at": "..."}    each value that differs from those above it; and for each
///                                     row which one it has, as a number of base 64, as wide as
///                                     the last of `values` needs it. With "lengths": [...] it is
///                                     not for each row but for so many in turn.
///   {"figures": "..."}                numbers of at least 0, and null, rounded to five digits
[[nodiscard]] Json packed_column(const std::vector<Json>& values);

}  // namespace attnbench
