// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/report/record_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/report/units.h"

namespace attnbench {
namespace {

char flag(int property, char letter) {
  if (property < 0) return '.';
  return property == 1 ? letter : '-';
}

}  // namespace

std::string cell_name(const Record& r) {
  return fmt::format("{}/{}/{}/{}", r.case_id, r.backend, to_string(r.cache), to_string(r.launch));
}

std::string verdict_word(const Record& record) {
  if (record.impossible && !is_failure(record.verdict)) return "IMPOSSIBLE";
  return std::string(to_string(record.verdict));
}

bool is_failed_row(const Record& record) { return is_failure(record.verdict) || record.impossible; }

std::string bitwise_flags(const Record& record) {
  const BitwiseProperties& b = record.bitwise;
  return {flag(b.repeatable, 'r'), flag(b.page_permutation_invariant, 'p'),
          flag(b.batch_invariant, 'b')};
}

std::string error_text(const Record& record) {
  if (record.error.rows == 0) return {};
  return three_digits(std::max(record.error.bound_ratio, record.error.lse_bound_ratio));
}

std::string tally_text(const RunResult& run) {
  // In the order of their first cell, so that the words are those of the table.
  std::vector<std::pair<std::string, int>> counts;
  int open = 0;
  for (const Record& record : run.records) {
    const std::string word = verdict_word(record);
    const auto known =
        std::ranges::find_if(counts, [&](const auto& entry) { return entry.first == word; });
    if (known == counts.end()) {
      counts.emplace_back(word, 1);
    } else {
      ++known->second;
    }
    if (record.timed && record.timing.status != MeasureStatus::kConverged) ++open;
  }
  std::string text =
      fmt::format("{} cell{}", run.records.size(), run.records.size() == 1 ? "" : "s");
  std::string separator = " · ";
  for (const auto& [word, count] : counts) {
    text += fmt::format("{}{} {}", separator, count, word);
    separator = ", ";
  }
  if (open > 0) text += fmt::format(" · {} not converged", open);
  return text;
}

}  // namespace attnbench
