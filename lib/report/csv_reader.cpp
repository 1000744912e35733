// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <csv.h>
#include <fmt/format.h>

#include <string>
#include <tuple>

#include "lib/base/error.h"
#include "lib/report/csv_columns.h"
#include "lib/report/sinks.h"

namespace attnbench {
namespace {

// No trimming: spaces are part of a field. Every field is read as text, since the library's own
// number parser knows neither nan nor the last bits of a double.
using Reader = io::CSVReader<kCsvColumns, io::trim_chars<>, io::double_quote_escape<',', '"'>>;

ConfigError at(const std::string& path, int line, std::string message) {
  return ConfigError({Diagnostic{{path, line, 1}, 1, std::move(message), {}, {}}});
}

void read_names(Reader& reader) {
  std::apply(
      [&](const auto&... column) { reader.read_header(io::ignore_no_column, column.name...); },
      csv_columns());
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
    read_names(reader);
    std::array<std::string, kCsvColumns> fields;
    for (line = 2; read_fields(reader, fields); ++line) {
      Record record;
      for (std::size_t i = 0; i < kCsvColumns; ++i) {
        try {
          csv_columns()[i].read(record, fields[i]);
        } catch (const ConfigError& error) {
          throw at(path, line,
                   fmt::format("column {}: {}", csv_columns()[i].name,
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
