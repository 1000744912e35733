// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/length_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "lib/base/counter_hash.h"
#include "lib/config/key_values.h"
#include "lib/config/value_reader.h"
#include "lib/config/word_hints.h"
#include "lib/scenario/language.h"

namespace attnbench {
namespace {

/// Uniform in (0, 1): the middle of one of 2^32 equal cells, so neither end is ever met.
double open_unit(std::uint32_t bits) { return (static_cast<double>(bits) + 0.5) * 0x1p-32; }

/// One draw; `key` is all its randomness.
struct Draw {
  std::uint64_t key;

  [[nodiscard]] double unit() const { return open_unit(element_bits(key, 0)); }

  std::int64_t operator()(const Uniform& shape) const {
    const auto choices = static_cast<std::uint64_t>(shape.hi - shape.lo) + 1;
    // The high half of a product spreads 32 bits over the choices without a division.
    return shape.lo + static_cast<std::int64_t>((element_bits(key, 0) * choices) >> 32);
  }
  std::int64_t operator()(const Lognormal& shape) const {
    const double z = static_cast<double>(normal_element(key, 0));
    return std::llround(shape.median * std::exp(shape.sigma * z));
  }
  std::int64_t operator()(const Zipf& shape) const {
    // Inverse of the distribution function of x^-s on [1, max + 1).
    const double end = static_cast<double>(shape.max) + 1;
    const double power = 1 - shape.exponent;
    const double x = std::fabs(power) < 1e-9
                         ? std::pow(end, unit())
                         : std::pow(1 + unit() * (std::pow(end, power) - 1), 1 / power);
    return std::min(static_cast<std::int64_t>(x), shape.max);
  }
  std::int64_t operator()(const Bimodal& shape) const {
    return unit() < shape.high_share ? shape.high : shape.low;
  }
  std::int64_t operator()(const Quantiles& shape) const {
    return std::llround(quantile_table(shape.table, shape.column).value_at(unit()));
  }
};

}  // namespace

std::vector<std::int64_t> draw_lengths(const LengthDistribution& distribution, std::int64_t count,
                                       std::uint64_t seed) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const Draw draw{combine(seed, static_cast<std::uint64_t>(i))};
    lengths.push_back(
        std::clamp(std::visit(draw, distribution.shape), distribution.min, distribution.max));
  }
  return lengths;
}

namespace {

using Shape = decltype(LengthDistribution::shape);

std::optional<Shape> read_uniform(const YamlNode& node, std::int64_t lo, Problems& problems) {
  if (!node.is_list() || node.items.size() != 2) {
    problems.add(node.place, fmt::format("uniform takes two lengths, found {}", describe(node)),
                 "for example uniform: [500, 4k]; both ends can be drawn");
    return std::nullopt;
  }
  const auto low = read_size(*node.items[0], "uniform", lo, kMaxSize, problems);
  const auto high = read_size(*node.items[1], "uniform", lo, kMaxSize, problems);
  if (!low || !high) return std::nullopt;
  if (*low > *high) {
    problems.add(node.items[0]->place,
                 fmt::format("uniform begins at {} and ends at {}", *low, *high),
                 "the smaller end comes first");
    return std::nullopt;
  }
  return Uniform{*low, *high};
}

std::optional<Shape> read_lognormal(const YamlNode& node, Problems& problems) {
  const ScenarioMap map(node, "lognormal", "lognormal", problems);
  return read_whole<Lognormal>(map, problems);
}

std::optional<Shape> read_zipf(const YamlNode& node, Problems& problems) {
  return read_whole<Zipf>(ScenarioMap(node, "zipf", "zipf", problems), problems);
}

std::optional<Shape> read_bimodal(const YamlNode& node, std::int64_t lo, Problems& problems) {
  const ScenarioMap map(node, "bimodal", "bimodal", problems);
  if (!map.has_required(problems)) return std::nullopt;
  const YamlNode* low = map.find("low");
  const auto shorter = read_size(*low, "low", lo, kMaxSize, problems);
  const auto longer = read_size(*map.find("high"), "high", lo, kMaxSize, problems);
  const auto part = read_fraction(*map.find("high_share"), "high_share", problems);
  if (!shorter || !longer || !part) return std::nullopt;
  if (*shorter >= *longer) {
    problems.add(low->place, fmt::format("low {} is not below high {}", *shorter, *longer));
    return std::nullopt;
  }
  return Bimodal{*shorter, *longer, *part};
}

std::optional<Shape> read_quantiles(const YamlNode& node, Problems& problems) {
  Quantiles quantiles;
  const YamlNode* table = &node;
  const YamlNode* column = nullptr;
  if (node.is_map()) {
    const ScenarioMap map(node, "quantiles", "quantiles", problems);
    if (!map.has_required(problems)) return std::nullopt;
    table = map.find("table");
    column = map.find("column");
  }
  const std::vector<std::string> tables = quantile_table_names();
  if (!table->is_scalar() || std::ranges::find(tables, table->text) == tables.end()) {
    problems.add(table->place,
                 fmt::format("quantiles takes the name of a table, found {}", describe(*table)),
                 allowed_words_hint(std::span<const std::string>(tables), table->text, "tables: "));
    return std::nullopt;
  }
  quantiles.table = table->text;
  if (column == nullptr) return quantiles;
  const auto name = read_name(*column, "column", problems);
  if (!name) return std::nullopt;
  quantiles.column = *name;
  try {
    static_cast<void>(quantile_table(quantiles.table, quantiles.column));
  } catch (const ConfigError& error) {
    problems.add(column->place, error.diagnostics().front().message);
    return std::nullopt;
  }
  return quantiles;
}

std::optional<LengthSpec> read_drawn(const YamlNode& node, std::string_view what, std::int64_t lo,
                                     Problems& problems) {
  constexpr std::array<std::string_view, 5> kShapes{"uniform", "lognormal", "zipf", "bimodal",
                                                    "quantiles"};
  const ScenarioMap map(node, "length", what, problems);
  if (!map.sound()) return std::nullopt;
  std::vector<std::string_view> given;
  for (const std::string_view shape : kShapes) {
    if (map.has(shape)) given.push_back(shape);
  }
  if (given.size() != 1) {
    const std::string found = given.empty() ? "none" : fmt::format("{}", fmt::join(given, " and "));
    problems.add(given.empty() ? node.place : map.place_of(given[1]),
                 fmt::format("{} takes one distribution, found {}", what, found),
                 allowed_words_hint(std::span<const std::string_view>(kShapes), ""));
    return std::nullopt;
  }
  LengthDistribution distribution;
  distribution.min = lo;
  distribution.max = kMaxSize;
  bool valid = true;
  for (const auto& [key, bound] :
       {std::pair{"min", &distribution.min}, {"max", &distribution.max}}) {
    const YamlNode* limit = map.find(key);
    if (limit == nullptr) continue;
    const auto value = read_size(*limit, key, lo, kMaxSize, problems);
    valid = valid && value;
    if (value) *bound = *value;
  }
  if (valid && distribution.min > distribution.max) {
    problems.add(map.find("max") != nullptr ? map.find("max")->place : node.place,
                 fmt::format("max {} is below min {}", distribution.max, distribution.min));
    valid = false;
  }
  const YamlNode& shape = *map.find(given[0]);
  std::optional<Shape> drawn;
  if (given[0] == "uniform") drawn = read_uniform(shape, lo, problems);
  if (given[0] == "lognormal") drawn = read_lognormal(shape, problems);
  if (given[0] == "zipf") drawn = read_zipf(shape, problems);
  if (given[0] == "bimodal") drawn = read_bimodal(shape, lo, problems);
  if (given[0] == "quantiles") drawn = read_quantiles(shape, problems);
  if (!drawn || !valid) return std::nullopt;
  distribution.shape = *drawn;
  return LengthSpec{node.place, distribution};
}

}  // namespace

KeySection length_section() {
  return {"length",
          "length",
          "A length",
          {{"uniform", by_section("two sizes"),
            "Any length between, both ends included: `{uniform: [500, 4k]}`."},
           {"lognormal", map_of("lognormal"), "`{lognormal: {median: 1200, sigma: 0.9}, max: 8k}`"},
           {"zipf", map_of("zipf"), "`{zipf: {exponent: 1.1, max: 8k}}`"},
           {"bimodal", map_of("bimodal"), "`{bimodal: {low: 256, high: 16k, high_share: 10%}}`"},
           {"quantiles", map_of("quantiles", "a table's name, or a map"),
            "A measured distribution: `{quantiles: azure-conv-2023, max: 4k}`."},
           {"min", by_section("a size"), "Shorter draws become this.", "the least allowed"},
           {"max", by_section("a size"), "Longer draws become this.", "none"}}};
}

KeySection lognormal_section() {
  const auto median = value_of(&Lognormal::median, "a whole number from 1", "",
                               [](const YamlNode& node, std::string_view key, Problems& problems) {
                                 return read_size(node, key, 1, kMaxSize, problems);
                               });
  return {
      "lognormal",
      "lognormal",
      "lognormal",
      {{"median", median, "Half of the lengths are shorter.", "", true},
       {"sigma", positive(&Lognormal::sigma), "Standard deviation of the logarithm.", "", true}},
      "for example lognormal: {median: 1200, sigma: 0.9}"};
}

KeySection zipf_section() {
  return {"zipf",
          "zipf",
          "zipf",
          {{"exponent", positive(&Zipf::exponent), "Length n has weight n^-exponent.", "", true},
           {"max", whole(&Zipf::max, 1), "The longest.", "", true}},
          "for example zipf: {exponent: 1.1, max: 8k}"};
}

KeySection bimodal_section() {
  return {"bimodal",
          "bimodal",
          "bimodal",
          {{"low", by_section("a size"), "The short ones.", "", true},
           {"high", by_section("a size"), "The long ones.", "", true},
           {"high_share", by_section("a fraction"), "How many are long.", "", true}},
          "for example bimodal: {low: 256, high: 16k, high_share: 10%}"};
}

KeySection quantiles_section() {
  return {"quantiles",
          "quantiles",
          "quantiles",
          {{"table", by_section("a name"), "The file `lengths/NAME.csv`.", "", true},
           {"column", by_section("a name", "context_tokens"), "Which lengths of the table."}},
          "for example {table: azure-conv-2023}"};
}

std::optional<std::int64_t> LengthSpec::list_size() const {
  const auto* list = std::get_if<std::vector<std::int64_t>>(&form);
  return list == nullptr ? std::nullopt : std::optional(static_cast<std::int64_t>(list->size()));
}

std::vector<std::int64_t> LengthSpec::values(std::int64_t count, std::uint64_t seed) const {
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&form)) return *list;
  if (const auto* drawn = std::get_if<LengthDistribution>(&form)) {
    return draw_lengths(*drawn, count, seed);
  }
  return std::vector<std::int64_t>(static_cast<std::size_t>(count), std::get<std::int64_t>(form));
}

std::optional<LengthSpec> read_length(const YamlNode& node, std::string_view what, std::int64_t lo,
                                      Problems& problems) {
  if (node.is_map()) return read_drawn(node, what, lo, problems);
  if (!node.is_list()) {
    const auto value = read_size(node, what, lo, kMaxSize, problems);
    return value ? std::optional(LengthSpec{node.place, *value}) : std::nullopt;
  }
  if (node.items.empty()) {
    problems.add(node.place, fmt::format("{} is an empty list", what));
    return std::nullopt;
  }
  std::vector<std::int64_t> values;
  for (const YamlPtr& item : node.items) {
    const auto value = read_size(*item, what, lo, kMaxSize, problems);
    if (value) values.push_back(*value);
  }
  if (values.size() != node.items.size()) return std::nullopt;
  return LengthSpec{node.place, std::move(values)};
}

}  // namespace attnbench
