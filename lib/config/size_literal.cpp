// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/size_literal.h"

#include <charconv>
#include <limits>

namespace attnbench {
namespace {

/// Of digits that a suffix for `unit` may have followed.
std::optional<std::int64_t> parse_units(std::string_view text, std::int64_t unit) {
  // from_chars would take a minus; a size has none.
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (value > std::numeric_limits<std::int64_t>::max() / unit) return std::nullopt;
  return value * unit;
}

}  // namespace

std::optional<std::int64_t> parse_size(std::string_view text) {
  std::int64_t unit = 1;
  if (text.ends_with('k')) unit = std::int64_t{1} << 10;
  if (text.ends_with('m')) unit = std::int64_t{1} << 20;
  if (unit > 1) text.remove_suffix(1);
  return parse_units(text, unit);
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  if (!text.ends_with('g')) return parse_size(text);
  text.remove_suffix(1);
  return parse_units(text, std::int64_t{1} << 30);
}

}  // namespace attnbench
