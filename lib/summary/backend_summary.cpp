// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/backend_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "lib/base/printable.h"
#include "lib/result/not_run.h"
#include "lib/result/record_text.h"
#include "lib/result/standing.h"
#include "lib/view/text_layout.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

/// The cells of a row as text: backend, cells that ran, fastest, geometric mean, failed, noisy.
using Row = std::array<std::string, 6>;

constexpr std::size_t kFewestOfNames = 6;
constexpr std::size_t kManyOfNames = 15;  // before counts of cases are left out

/// What the cells of a row are, as far as the titles do not say it.
constexpr std::array<std::string_view, 6> kLegends = {
    "",
    "",
    "fastest: where no backend was faster, ties included, figures with a ? not",
    "geomean vs best: geometric mean of vs best where another backend is right, too; none of one "
    "that failed",
    "failed: wrong, crashed or impossible",
    "noisy: ± wider than asked for, or missing"};

// Of a row: a narrow terminal needs the mean, failures and noise before the counts.
constexpr std::size_t kMean = 3;
constexpr std::array<std::size_t, 4> kDispensable = {1, 2, 5, 4};
constexpr std::string_view kShortMean = "vs best";
constexpr std::string_view kShortMeanLegend =
    "vs best: its geometric mean where another backend is right, too; none of one that failed";

/// Of the columns that are shown, by number.
std::string legends(const std::vector<std::size_t>& columns, std::string_view mean) {
  std::vector<std::string_view> texts;
  for (const std::size_t column : columns) {
    const std::string_view text = column == kMean ? mean : kLegends[column];
    if (!text.empty()) texts.push_back(text);
  }
  return fmt::format("{}", fmt::join(texts, " · "));
}

std::string unless_zero(int count) { return count == 0 ? "" : std::to_string(count); }

std::set<ComparisonKey> comparisons(const RunResult& run) {
  std::set<ComparisonKey> keys;
  for (const Record& r : run.records) keys.emplace(r);
  return keys;
}

std::size_t count_cases(const RunResult& run) {
  std::set<std::tuple<std::string, std::string, StepPart>> cases;
  for (const Record& r : run.records) cases.emplace(r.scenario, r.case_id, r.step);
  return cases.size();
}

/// How many figures each comparison has.
std::map<ComparisonKey, int> competitors(const RunResult& run,
                                         const std::vector<Standing>& standing) {
  std::map<ComparisonKey, int> counts;
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    if (standing[i].exists()) ++counts[ComparisonKey(run.records[i])];
  }
  return counts;
}

/// The titles first; nothing where there is no summary.
std::vector<Row> summary_rows(const RunResult& run) {
  const std::vector<BackendSummary> summaries = backend_summaries(run);
  if (summaries.empty()) return {};
  const std::size_t all = comparisons(run).size();
  // A case in several cache states or launch modes counts once for each.
  const char* const unit = all == count_cases(run) ? "cases" : "cells";
  std::vector<Row> rows = {{"backend", unit, "fastest", "geomean vs best", "failed", "noisy"}};
  for (const BackendSummary& s : summaries) {
    rows.push_back({printable(s.backend), fmt::format("{} of {}", s.ran, all),
                    std::to_string(s.fastest), s.geomean > 0 ? three_digits(s.geomean) : "–",
                    unless_zero(s.failed), unless_zero(s.noisy)});
  }
  return rows;
}

}  // namespace

std::vector<BackendSummary> backend_summaries(const RunResult& run) {
  const std::vector<Standing> standing = standings(run.records);
  const std::map<ComparisonKey, int> rivals = competitors(run, standing);
  std::vector<BackendSummary> summaries;
  std::vector<std::pair<double, int>> logarithms;  // sum and count
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    const Record& r = run.records[i];
    if (was_not_run(r)) continue;
    const auto known = std::ranges::find(summaries, r.backend, &BackendSummary::backend);
    const auto place = static_cast<std::size_t>(known - summaries.begin());
    if (known == summaries.end()) {
      summaries.push_back({.backend = r.backend});
      logarithms.emplace_back(0, 0);
    }
    BackendSummary& s = summaries[place];
    ++s.ran;
    s.fastest += standing[i].is_best() ? 1 : 0;
    s.failed += r.has_failed() ? 1 : 0;
    s.noisy += is_open(r) ? 1 : 0;
    if (!standing[i].exists() || rivals.at(ComparisonKey(r)) < 2) continue;
    logarithms[place].first += std::log(standing[i].ratio);
    ++logarithms[place].second;
    s.geomean = std::exp(logarithms[place].first / logarithms[place].second);
  }
  if (summaries.size() < 2 || count_cases(run) < 2) return {};
  for (BackendSummary& s : summaries) {
    if (s.failed > 0) s.geomean = 0;  // over the cases that it got right, it would flatter
  }
  std::ranges::stable_sort(summaries, {}, [](const BackendSummary& s) {
    const double mean = s.geomean > 0 ? s.geomean : std::numeric_limits<double>::infinity();
    return std::pair(s.failed > 0, mean);
  });
  return summaries;
}

std::string summary_terminal_section(const RunResult& run, std::size_t width) {
  std::vector<Row> rows = summary_rows(run);
  if (rows.empty()) return {};
  const auto width_of = [&](std::size_t column) {
    std::size_t most = 0;
    for (const Row& row : rows) most = std::max(most, display_width(row[column]));
    return most;
  };
  std::vector<std::size_t> columns = {1, 2, kMean, 4, 5};  // behind the names
  const auto figures_width = [&] {
    std::size_t sum = 0;
    for (const std::size_t column : columns) sum += 2 + width_of(column);
    return sum;
  };
  // A terminal that is too narrow shortens a title, leaves columns out, then shortens the names.
  std::string_view mean_legend = kLegends[kMean];
  if (2 + width_of(0) + figures_width() > width) {
    rows.front()[kMean] = kShortMean;
    mean_legend = kShortMeanLegend;
  }
  for (const std::size_t column : kDispensable) {
    const std::size_t names = std::min(width_of(0), column < kMean ? kManyOfNames : kFewestOfNames);
    if (2 + names + figures_width() > width) std::erase(columns, column);
  }
  const std::size_t room = width - std::min(width, 2 + figures_width());
  const std::size_t names = std::min(width_of(0), std::max(room, kFewestOfNames));
  std::string text = "\n";
  for (const Row& row : rows) {
    std::string line = "  " + fit_left(row[0], names);
    for (const std::size_t column : columns) line += fit_right(row[column], 2 + width_of(column));
    line.erase(line.find_last_not_of(' ') + 1);
    text += cut_to_width(line, width) + '\n';
  }
  return text + wrapped(legends(columns, mean_legend), width, 2);
}

std::string summary_markdown_section(const RunResult& run) {
  const std::vector<Row> rows = summary_rows(run);
  std::string text;
  for (const Row& row : rows) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", markdown_cell(row[0]), row[1], row[2],
                        row[3], row[4], row[5]);
    if (&row == &rows.front()) text += "|---|--:|--:|--:|--:|--:|\n";
  }
  return text.empty()
             ? text
             : fmt::format("\n{}\n{}\n", text, legends({1, 2, kMean, 4, 5}, kLegends[kMean]));
}

}  // namespace attnbench
