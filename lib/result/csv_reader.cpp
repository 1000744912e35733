// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/result/added_columns.h"
#include "lib/result/csv_columns.h"
#include "lib/result/sinks.h"

namespace attnbench {
namespace {

/// Names of missing columns that a message lists; a file that lacks more is of another kind.
constexpr std::size_t kMostNamed = 3;

ConfigError at(const std::string& path, int line, std::string message, std::string hint = {}) {
  return ConfigError({Diagnostic{{path, line, 1}, 1, std::move(message), std::move(hint), {}}});
}

ConfigError unknown_column(const std::string& path, const std::string& name) {
  std::vector<std::string_view> known;
  for (const RecordField* column : csv_columns()) known.emplace_back(column->column);
  const std::string likely = likely_names(name, known);
  return at(path, 1, fmt::format("unknown column '{}'", name),
            likely.empty() ? "written by a newer attnbench, or by something else"
                           : fmt::format("did you mean {}?", likely));
}

/// The fields of a line, which is changed. No trimming: spaces are part of a field. Every field is
/// text, since the library's own number parser handles neither nan nor the last bits of a double;
/// and its reader of whole rows is a template of as many parameters as there are columns, which
/// takes a compiler a quarter of a minute.
std::vector<std::string> fields_of(char* line) {
  using Quotes = io::double_quote_escape<',', '"'>;
  std::vector<std::string> fields;
  for (bool is_last = false; !is_last;) {
    char* begin = line;
    char* end = begin + (Quotes::find_next_column_end(begin) - begin);
    is_last = *end == '\0';
    line = end + 1;
    *end = '\0';
    Quotes::unescape(begin, end);
    fields.emplace_back(begin, end);
  }
  return fields;
}

/// Where a file has each of csv_columns(); later ones may be missing: the file is older than they.
using Places = std::array<std::optional<std::size_t>, kCsvColumns>;

void expect_first_columns(const Places& places, const std::string& path) {
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < kFirstCsvColumns; ++i) {
    if (!places[i]) missing.push_back(fmt::format("'{}'", csv_columns()[i]->column));
  }
  if (missing.empty()) return;
  const std::size_t named = std::min(missing.size(), kMostNamed);
  throw at(path, 1,
           fmt::format("missing column{} {}{}", missing.size() == 1 ? "" : "s",
                       fmt::join(missing.begin(), missing.begin() + std::ptrdiff_t(named), ", "),
                       missing.size() > named ? fmt::format(" and {} more", missing.size() - named)
                                              : std::string()),
           "every file that attnbench wrote has them");
}

Places places_of(const std::vector<std::string>& names, const std::string& path) {
  Places places;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_added_column(names[i])) continue;
    const auto column = std::ranges::find(csv_columns(), names[i], &RecordField::column);
    if (column == csv_columns().end()) throw unknown_column(path, names[i]);
    auto& place = places[static_cast<std::size_t>(column - csv_columns().begin())];
    if (place) throw at(path, 1, fmt::format("column '{}' is there twice", names[i]));
    place = i;
  }
  expect_first_columns(places, path);
  return places;
}

}  // namespace

std::vector<Record> read_csv(const std::string& path) {
  std::vector<Record> records;
  int line = 1;
  try {
    io::LineReader reader(path);
    char* text = reader.next_line();
    if (text == nullptr) throw at(path, line, "an empty file: the first line names the columns");
    const std::vector<std::string> names = fields_of(text);
    const Places places = places_of(names, path);
    while ((text = reader.next_line()) != nullptr) {
      ++line;
      const std::vector<std::string> fields = fields_of(text);
      if (fields.size() != names.size()) {
        throw at(path, line,
                 fmt::format("{} fields, where the first line names {} columns", fields.size(),
                             names.size()));
      }
      Record record;
      for (std::size_t i = 0; i < kCsvColumns; ++i) {
        if (!places[i]) continue;
        try {
          read_csv_text(*csv_columns()[i], record, fields[*places[i]]);
        } catch (const ConfigError& error) {
          throw at(path, line,
                   fmt::format("column {}: {}", csv_columns()[i]->column,
                               error.diagnostics().front().message));
        }
      }
      records.push_back(std::move(record));
    }
  } catch (const io::error::escaped_string_not_closed&) {
    throw at(path, line, "a field's quotation mark is not closed");
  } catch (const io::error::base& error) {
    throw at(path, line, error.what());
  }
  return records;
}

}  // namespace attnbench
