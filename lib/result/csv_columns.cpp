// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/csv_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

bool may_be_absent(const RecordField& column) {
  return column.exists != nullptr ||
         std::ranges::any_of(groups_around(column.path),
                             [](const RecordGroup* group) { return group->exists != nullptr; });
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

void read_csv_text(const RecordField& column, Record& record, const std::string& text) {
  if (text.empty() && may_be_absent(column)) return;
  column.access.read(record, text);
}

}  // namespace attnbench
