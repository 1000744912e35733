// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <ostream>
#include <string>

#include "lib/result/added_columns.h"
#include "lib/result/csv_columns.h"
#include "lib/result/sinks.h"

namespace attnbench {
namespace {

/// RFC 4180 quoting. The CSV library reads line by line, so a line break inside a field (RFC 4180
/// allows it) would end the row there: it becomes a space.
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
