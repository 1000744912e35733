// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/value_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <locale>
#include <sstream>
#include <utility>

#include "lib/config/size_literal.h"
#include "lib/config/word_hints.h"

namespace attnbench {
namespace {

/// Digits with an optional size suffix: a size that parse_size refused for its magnitude.
bool looks_like_size(std::string_view text) {
  if (text.ends_with('k') || text.ends_with('m')) text.remove_suffix(1);
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

bool looks_negative(std::string_view text) {
  return text.starts_with('-') && looks_like_size(text.substr(1));
}

bool is_name_letter(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
         c == '.';
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  // The characters are checked first: streams would take "0x10", "inf" or "1e5 apples".
  const auto allowed = [](char c) {
    return is_digit(c) || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
  };
  if (text.empty() || !std::ranges::all_of(text, allowed)) return std::nullopt;
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  double value = 0;
  if (!(stream >> value) || stream.peek() != std::istringstream::traits_type::eof()) {
    return std::nullopt;
  }
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> read_size(const YamlNode& node, std::string_view what, std::int64_t lo,
                                      std::int64_t hi, Problems& problems) {
  const std::string_view text = node.text;
  const std::optional<std::int64_t> value =
      node.is_scalar() ? parse_size(text) : std::optional<std::int64_t>();
  if (value && *value >= lo && *value <= hi) return value;
  if ((value && *value < lo) || (node.is_scalar() && looks_negative(text))) {
    problems.add(node.place, fmt::format("{} {} is less than {}", what, text, lo));
  } else if (value || (node.is_scalar() && looks_like_size(text))) {
    problems.add(node.place, fmt::format("{} {} is more than {}", what, text, hi),
                 hi == kMaxSize ? "index arrays are int32: 2^31 - 1 is the largest size" : "");
  } else {
    problems.add(node.place, fmt::format("{} takes a whole number, found {}", what, describe(node)),
                 "for example 64, 4k or 1m; k is 1024, m is 1024 k");
  }
  return std::nullopt;
}

std::optional<std::int64_t> read_bytes(const YamlNode& node, std::string_view what,
                                       Problems& problems) {
  const std::optional<std::int64_t> value =
      node.is_scalar() ? parse_bytes(node.text) : std::optional<std::int64_t>();
  if (value && *value > 0) return value;
  problems.add(node.place,
               value ? fmt::format("{} {} is less than 1", what, node.text)
                     : fmt::format("{} takes a size of memory, found {}", what, describe(node)),
               "for example 512m or 2g; m is 1024^2 bytes, g is 1024 m");
  return std::nullopt;
}

std::optional<double> read_positive(const YamlNode& node, std::string_view what,
                                    Problems& problems) {
  const std::optional<double> value =
      node.is_scalar() ? parse_number(node.text) : std::optional<double>();
  if (value && *value > 0) return value;
  problems.add(node.place, value
                               ? fmt::format("{} {} is not greater than 0", what, node.text)
                               : fmt::format("{} takes a number, found {}", what, describe(node)));
  return std::nullopt;
}

std::optional<double> read_factor(const YamlNode& node, std::string_view what, Problems& problems) {
  constexpr double kLeast = 1e-30, kMost = 1e30;
  const auto value = read_positive(node, what, problems);
  if (!value || (*value >= kLeast && *value <= kMost)) return value;
  problems.add(node.place,
               fmt::format("{} {} is {}", what, node.text,
                           *value < kLeast ? "less than 1e-30" : "more than 1e30"),
               "scaled values would leave the range of f32");
  return std::nullopt;
}

std::optional<bool> read_bool(const YamlNode& node, std::string_view what, Problems& problems) {
  if (node.is_scalar() && node.text == "true") return true;
  if (node.is_scalar() && node.text == "false") return false;
  problems.add(node.place, fmt::format("{} takes true or false, found {}", what, describe(node)));
  return std::nullopt;
}

std::optional<std::string> read_text(const YamlNode& node, std::string_view what,
                                     Problems& problems) {
  if (node.is_scalar()) return node.text;
  problems.add(node.place, fmt::format("{} takes a text, found {}", what, describe(node)));
  return std::nullopt;
}

bool check_name(const std::string& name, const Place& place, std::string_view what,
                Problems& problems) {
  if (!name.empty() && std::ranges::all_of(name, is_name_letter)) return true;
  problems.add(
      place, fmt::format("{} '{}' is not a name", what, name),
      "names are made of letters, digits, '_', '-' and '.': they become parts of case ids");
  return false;
}

std::optional<std::string> read_name(const YamlNode& node, std::string_view what,
                                     Problems& problems) {
  if (!node.is_scalar()) {
    problems.add(node.place, fmt::format("{} takes a name, found {}", what, describe(node)));
    return std::nullopt;
  }
  if (!check_name(node.text, node.place, what, problems)) return std::nullopt;
  return node.text;
}

std::optional<std::size_t> read_choice(const YamlNode& node, std::string_view what,
                                       std::span<const std::string_view> words,
                                       Problems& problems) {
  const auto found = node.is_scalar() ? std::ranges::find(words, node.text) : words.end();
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  problems.add(node.place,
               node.is_scalar() ? fmt::format("unknown word {} for {}", describe(node), what)
                                : fmt::format("{} takes one word, found {}", what, describe(node)),
               allowed_words_hint(words, node.text));
  return std::nullopt;
}

namespace {

/// A number, or a percentage.
std::optional<double> read_part(const YamlNode& node, std::string_view what, Problems& problems) {
  std::string_view text = node.text;
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  const std::optional<double> number = node.is_scalar() ? parse_number(text) : std::nullopt;
  if (!number) {
    problems.add(node.place, fmt::format("{} takes a fraction, found {}", what, describe(node)),
                 "for example 0.5% or 0.005");
    return std::nullopt;
  }
  return percent ? *number / 100 : *number;
}

}  // namespace

std::optional<double> read_fraction(const YamlNode& node, std::string_view what,
                                    Problems& problems) {
  const auto value = read_part(node, what, problems);
  if (!value || (*value > 0 && *value < 1)) return value;
  problems.add(node.place, fmt::format("{} {} is not between 0 and 1", what, node.text),
               "for example 0.5% or 0.005");
  return std::nullopt;
}

std::optional<double> read_share(const YamlNode& node, std::string_view what, Problems& problems) {
  const auto value = read_part(node, what, problems);
  if (!value || (*value >= 0 && *value <= 1)) return value;
  problems.add(node.place, fmt::format("{} {} is not between 0 and 1", what, node.text),
               "for example 75% or 0.75");
  return std::nullopt;
}

std::optional<double> read_duration(const YamlNode& node, std::string_view what,
                                    Problems& problems) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
      {{"us", 1e-6}, {"ms", 1e-3}, {"min", 60.0}, {"s", 1.0}}};  // "s" last: it ends the others
  const std::string_view text = node.text;
  for (const auto& [unit, seconds] : kUnits) {
    if (!node.is_scalar() || !text.ends_with(unit)) continue;
    const auto number = parse_number(text.substr(0, text.size() - unit.size()));
    if (number && *number > 0) return *number * seconds;
    break;
  }
  problems.add(
      node.place, fmt::format("{} takes a time, found {}", what, describe(node)),
      "a number greater than 0 with its unit, for example 20ms or 15s; units: us ms s min");
  return std::nullopt;
}

}  // namespace attnbench
