// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/packed_column.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>

namespace attnbench {
namespace {

void append_digits(std::string& text, std::size_t number, std::size_t width) {
  for (std::size_t digit = width; digit-- > 0;) text += kDigits64[number >> (6 * digit) & 63];
}

/// Digits of base 64 that the numbers below `count` take.
std::size_t width_below(std::size_t count) {
  std::size_t width = 1;
  while (count > std::size_t{1} << (6 * width)) ++width;
  return width;
}

/// None of what `figures` cannot hold.
std::optional<std::size_t> figure_code(const Json& value) {
  if (value.is_null()) return 0;
  if (!value.is_number()) return {};
  const double number = value.get<double>();
  if (!std::isfinite(number)) return 0;  // JSON has neither; a dump makes them null
  if (number == 0) return 1;
  // "1.2346e+02": libraries round it better than arithmetic would.
  const std::string text = fmt::format("{:.4e}", number);
  if (text[0] == '-') return {};
  int exponent = 0;
  const std::size_t sign = text.find('e') + 1;
  std::from_chars(text.data() + sign + (text[sign] == '+' ? 1 : 0), text.data() + text.size(),
                  exponent);
  exponent -= 4;
  if (exponent < kLeastExponent || exponent > kMostExponent) return {};
  const int mantissa = std::stoi(text.substr(0, 1) + text.substr(2, 4));
  return static_cast<std::size_t>(kFirstCode + mantissa - kLeastMantissa +
                                  kMantissas * (exponent - kLeastExponent));
}

/// "" where a value has no such code.
std::string figures_of(const std::vector<Json>& values) {
  std::string text;
  for (const Json& value : values) {
    const auto code = figure_code(value);
    if (!code) return {};
    append_digits(text, *code, kFigureWidth);
  }
  return text;
}

/// Distinct values, and which one each row has.
struct Distinct {
  Json values = Json::array();
  std::vector<std::size_t> at;
  std::size_t length = 0;  ///< of the values as text

  explicit Distinct(const std::vector<Json>& rows) {
    std::unordered_map<std::string, std::size_t> known;
    for (const Json& value : rows) {
      std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
      const std::size_t size = text.size() + 1;
      const auto [place, is_new] = known.try_emplace(std::move(text), known.size());
      at.push_back(place->second);
      if (!is_new) continue;
      values.push_back(value);
      length += size;
    }
  }
};

}  // namespace

Json packed_column(const std::vector<Json>& values) {
  Distinct distinct(values);
  const std::size_t width = width_below(distinct.values.size());
  std::string of_rows, of_runs;
  Json lengths = Json::array();
  std::size_t lengths_size = 0, run = 0;
  for (std::size_t row = 0; row < values.size(); ++row) {
    append_digits(of_rows, distinct.at[row], width);
    ++run;
    if (row + 1 < values.size() && distinct.at[row] == distinct.at[row + 1]) continue;
    append_digits(of_runs, distinct.at[row], width);
    lengths.push_back(run);
    lengths_size += 1 + std::to_string(run).size();
    run = 0;
  }
  const bool by_runs = of_runs.size() + lengths_size < of_rows.size();
  const std::size_t size =
      distinct.length + (by_runs ? of_runs.size() + lengths_size : of_rows.size());
  if (values.size() * kFigureWidth < size) {
    if (std::string figures = figures_of(values); !figures.empty()) {
      return {{"figures", std::move(figures)}};
    }
  }
  Json packed = {{"values", std::move(distinct.values)},
                 {"at", by_runs ? std::move(of_runs) : std::move(of_rows)}};
  if (by_runs) packed["lengths"] = std::move(lengths);
  return packed;
}

}  // namespace attnbench
