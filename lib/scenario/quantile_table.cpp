// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/length_reader.h"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "lib/base/embedded_file.h"
#include "lib/base/error.h"

namespace attnbench {

/// scenarios/lengths/*.csv, compiled in.
std::span<const EmbeddedFile> embedded_length_tables();

namespace {

struct Columns {
  QuantileTable context;
  QuantileTable generated;
};

Columns parse(const EmbeddedFile& file) {
  // '#' lines name the source of the figures.
  io::CSVReader<3, io::trim_chars<' '>, io::no_quote_escape<','>, io::throw_on_overflow,
                io::single_line_comment<'#'>>
      csv(std::string(file.stem), file.text.data(), file.text.data() + file.text.size());
  csv.read_header(io::ignore_no_column, "quantile", "context_tokens", "generated_tokens");
  Columns columns;
  double quantile = 0, context = 0, generated = 0;
  while (csv.read_row(quantile, context, generated)) {
    for (auto [table, value] :
         {std::pair{&columns.context, context}, {&columns.generated, generated}}) {
      table->quantiles.push_back(quantile);
      table->values.push_back(value);
    }
  }
  const auto& q = columns.context.quantiles;
  expects(q.size() >= 2 && q.front() == 0 && q.back() == 1 && std::ranges::is_sorted(q),
          "a quantile table runs from 0 to 1");
  return columns;
}

const std::map<std::string, Columns, std::less<>>& tables() {
  static const auto parsed = [] {
    std::map<std::string, Columns, std::less<>> all;
    for (const EmbeddedFile& file : embedded_length_tables()) {
      all.emplace(std::string(file.stem), parse(file));
    }
    return all;
  }();
  return parsed;
}

}  // namespace

double QuantileTable::value_at(double q) const {
  const auto above = std::ranges::lower_bound(quantiles, q);
  if (above == quantiles.begin()) return values.front();
  if (above == quantiles.end()) return values.back();
  const auto i = static_cast<std::size_t>(std::distance(quantiles.begin(), above));
  const double part = (q - quantiles[i - 1]) / (quantiles[i] - quantiles[i - 1]);
  return values[i - 1] + part * (values[i] - values[i - 1]);
}

std::vector<std::string> quantile_table_names() {
  std::vector<std::string> names;
  for (const auto& entry : tables()) names.push_back(entry.first);
  return names;
}

const QuantileTable& quantile_table(std::string_view name, std::string_view column) {
  const auto found = tables().find(name);
  if (found == tables().end())
    throw ConfigError(fmt::format("there is no length table '{}'", name));
  if (column.empty() || column == "context_tokens") return found->second.context;
  if (column == "generated_tokens") return found->second.generated;
  throw ConfigError(fmt::format(
      "length table '{}' has no column '{}': context_tokens, generated_tokens", name, column));
}

}  // namespace attnbench
