// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <csv.h>
#include <fmt/format.h>

#include <string>
#include <tuple>
#include <vector>

#include "lib/base/error.h"
#include "lib/report/csv_columns.h"
#include "lib/report/sinks.h"

namespace attnbench {
namespace {

// No trimming: spaces are part of a field. Every field is read as text, since the library's own
// number parser handles neither nan nor the last bits of a double.
using Reader = io::CSVReader<kCsvColumns, io::trim_chars<>, io::double_quote_escape<',', '"'>>;

/// Names of missing columns that a message lists; a file that lacks more is of another kind.
constexpr std::size_t kMostNamed = 3;

ConfigError at(const std::string& path, int line, std::string message, std::string hint = {}) {
  return ConfigError({Diagnostic{{path, line, 1}, 1, std::move(message), std::move(hint), {}}});
}

ConfigError unknown_column(const std::string& path, const char* name) {
  std::vector<std::string_view> known;
  for (const RecordField* column : csv_columns()) known.emplace_back(column->column);
  const std::string likely = likely_names(name, known);
  return at(path, 1, fmt::format("unknown column '{}'", name),
            likely.empty() ? "written by a newer attnbench, or by something else"
                           : fmt::format("did you mean {}?", likely));
}

/// Later columns may be missing: the file is older than they are.
void expect_first_columns(const Reader& reader, const std::string& path) {
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < kFirstCsvColumns; ++i) {
    const std::string& name = csv_columns()[i]->column;
    if (!reader.has_column(name)) missing.push_back(fmt::format("'{}'", name));
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

void read_names(Reader& reader, const std::string& path) {
  try {
    std::apply(
        [&](const auto*... column) {
          reader.read_header(io::ignore_missing_column, column->column...);
        },
        csv_columns());
  } catch (const io::error::extra_column_in_header& error) {
    throw unknown_column(path, error.column_name);
  }
  expect_first_columns(reader, path);
}

bool read_fields(Reader& reader, std::array<std::string, kCsvColumns>& fields) {
  return std::apply([&](auto&... field) { return reader.read_row(field...); }, fields);
}

}  // namespace

std::vector<Record> read_csv(const std::string& path) {
  std::vector<Record> records;
  int line = 1;
  try {
    Reader reader(path);
    read_names(reader, path);
    std::array<bool, kCsvColumns> present{};
    for (std::size_t i = 0; i < kCsvColumns; ++i) {
      present[i] = reader.has_column(csv_columns()[i]->column);
    }
    std::array<std::string, kCsvColumns> fields;
    for (line = 2; read_fields(reader, fields); ++line) {
      Record record;
      for (std::size_t i = 0; i < kCsvColumns; ++i) {
        if (!present[i]) continue;
        try {
          read_csv_text(*csv_columns()[i], record, fields[i]);
        } catch (const ConfigError& error) {
          throw at(path, line,
                   fmt::format("column {}: {}", csv_columns()[i]->column,
                               error.diagnostics().front().message));
        }
      }
      records.push_back(std::move(record));
    }
  } catch (const io::error::base& error) {
    throw at(path, line, error.what());
  }
  return records;
}

}  // namespace attnbench
