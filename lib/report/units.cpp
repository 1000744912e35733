// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/report/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attnbench {
namespace {

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0u) == 0x80u; }

/// The first `width` characters of `text`, or all but the last one and "…" when it is longer.
std::string cut(std::string_view text, std::size_t width) {
  if (display_width(text) <= width || width == 0) return std::string(text);
  std::size_t bytes = 0;
  for (std::size_t seen = 0; bytes < text.size(); ++bytes) {
    if (!continues_character(text[bytes]) && seen++ == width - 1) break;
  }
  return std::string(text.substr(0, bytes)) + "…";
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

std::string percent_text(double fraction) {
  const double percent = fraction * 100;
  if (std::abs(percent) < 9.95) return fmt::format("{:.1f} %", percent);
  return fmt::format("{:.0f} %", percent);
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char byte : text) width += continues_character(byte) ? 0u : 1u;
  return width;
}

std::string fit_left(std::string_view text, std::size_t width) {
  std::string fitted = cut(text, width);
  fitted.append(width - std::min(width, display_width(fitted)), ' ');
  return fitted;
}

std::string fit_right(std::string_view text, std::size_t width) {
  const std::string fitted = cut(text, width);
  return std::string(width - std::min(width, display_width(fitted)), ' ') + fitted;
}

}  // namespace attnbench
