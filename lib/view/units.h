// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace attnbench {

// Numbers for people: three significant digits, SI units by magnitude. Machine formats never use
// these.

/// "52.4", "107", "0.21", "1.8e+06".
[[nodiscard]] std::string three_digits(double value);
/// "52.4 µs", "1.23 ms".
[[nodiscard]] std::string time_text(double microseconds);
/// "41 s", "12 min", "3 h 20 min".
[[nodiscard]] std::string rough_time(double seconds);
/// "187 MB"; 1 MB = 10^6 bytes.
[[nodiscard]] std::string bytes_text(std::int64_t bytes);
/// "624", "98.3 k", "1.23 M".
[[nodiscard]] std::string count_text(std::int64_t count);
/// "1 case", "7 cases".
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);
/// "0.3 %", "77 %".
[[nodiscard]] std::string percent_text(double fraction);
/// Value and unit with an SI prefix: si_text(5.1e9, "FLOP") is "5.10 GFLOP".
[[nodiscard]] std::string si_text(double value, std::string_view unit);

/// "1 case", "3 cases"; `plural` where it is not the noun with an s.
template <std::integral Count>
[[nodiscard]] std::string counted(Count count, std::string_view noun,
                                  std::string_view plural = {}) {
  std::string text = std::to_string(count) + ' ';
  if (count == 1 || plural.empty()) return text.append(noun).append(count == 1 ? "" : "s");
  return text.append(plural);
}

/// Columns that UTF-8 text takes on a terminal: two for each code point from U+3000 on (East Asian
/// letters, emoji), one for others.
[[nodiscard]] std::size_t display_width(std::string_view text);
/// `text`, or as much of it as fits `width` columns with a "…" at its end.
[[nodiscard]] std::string cut_to_width(std::string_view text, std::size_t width);
/// `text` padded with spaces to `width` columns; longer text loses its tail to "…".
[[nodiscard]] std::string fit_left(std::string_view text, std::size_t width);
[[nodiscard]] std::string fit_right(std::string_view text, std::size_t width);

/// Two numbers as a message prints them: in four digits, or in as many as it takes to differ.
[[nodiscard]] std::pair<std::string, std::string> told_apart(double a, double b);

}  // namespace attnbench
