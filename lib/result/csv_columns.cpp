// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/csv_columns.h"

#include <fmt/format.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "lib/result/added_columns.h"
#include "lib/result/sinks.h"

namespace attnbench {
namespace {

std::array<const RecordField*, kCsvColumns> by_place() {
  std::array<const RecordField*, kCsvColumns> columns{};
  for (const RecordField& field : record_fields()) {
    if (field.place > 0) columns.at(field.place - 1) = &field;
  }
  return columns;
}

std::string number_text(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{}", value);
}

/// RFC 4180 quoting. A line break inside a field, which RFC 4180 allows, becomes a space: readers
/// that go line by line would end the row there.
std::string quoted(std::string text) {
  bool quote = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  std::string out;
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\0') c = ' ';
    if (c == ',' || c == '"') quote = true;
    if (c == '"') out += '"';
    out += c;
  }
  return quote ? '"' + out + '"' : out;
}

}  // namespace

const std::array<const RecordField*, kCsvColumns>& csv_columns() {
  static const std::array<const RecordField*, kCsvColumns> columns = by_place();
  return columns;
}

std::string csv_text(const RecordField& column, const Record& record) {
  const Json value = value_of(column, record);
  if (value.is_null()) return column.access.absent;
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  if (value.is_number_float()) return number_text(value.get<double>());
  if (value.empty()) return {};
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void write_csv(const RunResult& run, std::ostream& out) {
  std::string text;
  const std::vector<std::string> added = added_columns(run);
  for (const RecordField* column : csv_columns()) text += column->column + ',';
  for (const std::string& column : added) text += quoted(column) + ',';
  text.back() = '\r';
  text += '\n';
  for (const Record& record : run.records) {
    for (const RecordField* column : csv_columns()) text += quoted(csv_text(*column, record)) + ',';
    for (const std::string& column : added) text += added_text(column, record) + ',';
    text.back() = '\r';
    text += '\n';
  }
  out << text;
}

}  // namespace attnbench
