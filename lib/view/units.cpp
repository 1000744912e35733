// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/view/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnbench {
namespace {

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0u) == 0x80u; }

/// Columns of the character that `byte` is a part of; counted at its first byte.
std::size_t columns_at(char byte) {
  constexpr unsigned char kFirstOfWide = 0xe3;  // of U+3000
  if (continues_character(byte)) return 0;
  return static_cast<unsigned char>(byte) >= kFirstOfWide ? 2 : 1;
}

}  // namespace

std::string three_digits(double value) {
  if (std::isnan(value)) return "nan";
  const double size = std::abs(value);
  // The limits are where rounding to fewer decimals would add a digit.
  if (size == 0) return "0";
  if (size >= 99999.5 || size < 0.001) return fmt::format("{:.1e}", value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  if (size >= 0.0995) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3f}", value);
}

std::string si_text(double value, std::string_view unit) {
  static constexpr std::string_view kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  while (std::abs(value) >= 999.5 && prefix + 1 < std::size(kPrefixes)) {
    value /= 1000;
    ++prefix;
  }
  const bool whole = prefix == 0 && value == std::floor(value);
  return fmt::format("{} {}{}", whole ? fmt::format("{:.0f}", value) : three_digits(value),
                     kPrefixes[prefix], unit);
}

std::string time_text(double microseconds) {
  if (microseconds < 0.9995) return three_digits(microseconds * 1e3) + " ns";
  if (microseconds < 999.5) return three_digits(microseconds) + " µs";
  if (microseconds < 999.5e3) return three_digits(microseconds / 1e3) + " ms";
  return three_digits(microseconds / 1e6) + " s";
}

std::string bytes_text(std::int64_t bytes) { return si_text(static_cast<double>(bytes), "B"); }

std::string count_text(std::int64_t count) {
  std::string text = si_text(static_cast<double>(count), "");
  if (text.back() == ' ') text.pop_back();
  return text;
}

std::string rough_time(double seconds) {
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  const auto minutes = static_cast<std::int64_t>(std::min(std::round(seconds / 60), 1e9));
  if (minutes < 100) return fmt::format("{} min", minutes);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string percent_text(double fraction) {
  const double percent = fraction * 100;
  if (std::abs(percent) < 9.95) return fmt::format("{:.1f} %", percent);
  return fmt::format("{:.0f} %", percent);
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char byte : text) width += columns_at(byte);
  return width;
}

std::string cut_to_width(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::size_t bytes = 0, used = 0;
  for (; bytes < text.size(); ++bytes) {
    const std::size_t columns = columns_at(text[bytes]);
    if (used + columns > width - 1) break;
    used += columns;
  }
  return std::string(text.substr(0, bytes)) + "…";
}

std::string fit_left(std::string_view text, std::size_t width) {
  std::string fitted = cut_to_width(text, width);
  fitted.append(width - std::min(width, display_width(fitted)), ' ');
  return fitted;
}

std::string fit_right(std::string_view text, std::size_t width) {
  const std::string fitted = cut_to_width(text, width);
  return std::string(width - std::min(width, display_width(fitted)), ' ') + fitted;
}

std::pair<std::string, std::string> told_apart(double a, double b) {
  for (int digits = 4;; ++digits) {
    std::string first = fmt::format("{:.{}g}", a, digits);
    std::string second = fmt::format("{:.{}g}", b, digits);
    const bool as_good_as_it_gets = a == b || digits == std::numeric_limits<double>::max_digits10;
    if (first != second || as_good_as_it_gets) return {std::move(first), std::move(second)};
  }
}

}  // namespace attnbench
