// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/added_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lib/config/size_literal.h"
#include "lib/config/value_reader.h"

namespace attnbench {
namespace {

constexpr std::string_view kSwept = "sweep:", kQueries = "q_len:", kKeys = "kv_len:";

std::optional<double> number_of(std::string_view text) {
  if (const auto size = parse_size(text)) return static_cast<double>(*size);
  return parse_number(text);
}

/// All that one record fills.
std::vector<std::pair<std::string, double>> added_values(const Record& record) {
  std::vector<std::pair<std::string, double>> values;
  for (const auto& [path, value] : swept_numbers(record)) {
    values.emplace_back(std::string(kSwept) + path, value);
  }
  for (const RequestGroup& group : record.groups) {
    const auto requests = static_cast<double>(std::max<std::int64_t>(group.requests, 1));
    values.emplace_back(std::string(kQueries) + group.name,
                        static_cast<double>(group.q_tokens) / requests);
    values.emplace_back(std::string(kKeys) + group.name,
                        static_cast<double>(group.kv_tokens) / requests);
  }
  return values;
}

}  // namespace

std::vector<std::pair<std::string, double>> swept_numbers(const Record& record) {
  std::vector<std::pair<std::string, double>> numbers;
  for (const auto& [path, text] : record.sweep) {
    if (const auto number = number_of(text)) numbers.emplace_back(path, *number);
  }
  return numbers;
}

std::vector<std::string> added_columns(const RunResult& run) {
  std::vector<std::string> columns;
  for (const Record& record : run.records) {
    for (const auto& [column, value] : added_values(record)) {
      if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
    }
  }
  return columns;
}

std::string added_text(const std::string& column, const Record& record) {
  for (const auto& [name, value] : added_values(record)) {
    if (name == column) return fmt::format("{}", value);
  }
  return {};
}

}  // namespace attnbench
