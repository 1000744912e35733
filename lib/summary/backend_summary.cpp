// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/backend_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "lib/result/ranking.h"
#include "lib/result/record_text.h"
#include "lib/summary/pair_order.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

constexpr std::size_t kFewestOfNames = 6;
constexpr std::size_t kManyOfNames = 15;  // before counts of cases are left out

constexpr const char* kMean = "geomean vs best";
constexpr const char* kShortMean = "vs best";

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
                                         const std::vector<Ranking>& ranking) {
  std::map<ComparisonKey, int> counts;
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    if (ranking[i].exists()) ++counts[ComparisonKey(run.records[i])];
  }
  return counts;
}

/// A case in several cache states or launch modes counts once for each.
const char* unit_of(const RunResult& run) {
  return comparisons(run).size() == count_cases(run) ? "cases" : "cells";
}

/// Without rows where there is no summary.
Table summary_table(const RunResult& run) {
  constexpr auto kLeft = Column::Align::kLeft, kRight = Column::Align::kRight;
  constexpr std::size_t kAny = std::string::npos;
  Table table;
  table.columns = {
      {"backend", kLeft, 2, 0, kAny, kPairOrderLegend},
      {unit_of(run), kRight},
      {"fastest", kRight, 2, 0, kAny,
       "fastest: where no backend was faster, ties included, figures with a ? not"},
      {kMean, kRight, 2, 0, kAny,
       "geomean vs best: geometric mean of vs best where another backend is right, too; none of "
       "one that failed"},
      {"failed", kRight, 2, 0, kAny, "failed: wrong, crashed or impossible"},
      {"noisy", kRight, 2, 0, kAny, "noisy: ± wider than asked for, or missing"}};
  const std::size_t all = comparisons(run).size();
  for (const BackendSummary& s : backend_summaries(run)) {
    table.rows.push_back({{s.backend, fmt::format("{} of {}", s.ran, all),
                           std::to_string(s.fastest), s.geomean > 0 ? three_digits(s.geomean) : "–",
                           unless_zero(s.failed), unless_zero(s.noisy)}});
  }
  return table;
}

/// A summary, and what it is ranked by.
struct Entry {
  BackendSummary summary;
  CellLogs logs;
};

/// 0 where no other backend is right.
double geomean_beside_rivals(const CellLogs& logs, const std::map<ComparisonKey, int>& rivals) {
  double sum = 0;
  int count = 0;
  for (const auto& [cell, log] : logs) {
    if (rivals.at(cell) < 2) continue;
    sum += log;
    ++count;
  }
  return count == 0 ? 0 : std::exp(sum / count);
}

/// Those with a mean in the order of their pairs, then those without one, then those that failed.
std::vector<BackendSummary> in_order(std::vector<Entry> entries) {
  std::ranges::stable_sort(entries, {}, [](const Entry& each) {
    const double mean = each.summary.geomean;
    return std::pair(each.summary.failed > 0,
                     mean > 0 ? mean : std::numeric_limits<double>::infinity());
  });
  std::vector<CellLogs> ranked;
  for (const Entry& each : entries) {
    if (each.summary.geomean > 0) ranked.push_back(each.logs);
  }
  std::vector<BackendSummary> ordered;
  for (const std::size_t i : pair_order(ranked)) ordered.push_back(entries[i].summary);
  for (std::size_t i = ranked.size(); i < entries.size(); ++i) {
    ordered.push_back(entries[i].summary);
  }
  return ordered;
}

/// A terminal that is too narrow shortens a title, leaves columns out, then shortens the names: it
/// needs the mean, failures and noise before the counts.
void narrow_down(Table& table, std::size_t width) {
  const auto figures_width = [&] {
    std::size_t sum = 0;
    for (std::size_t i = 1; i < table.columns.size(); ++i) sum += 2 + width_of(table, i);
    return sum;
  };
  const std::size_t names = width_of(table, 0);
  if (2 + names + figures_width() > width) {
    Column& mean = *std::ranges::find(table.columns, kMean, &Column::heading);
    mean.heading = kShortMean;
    mean.legend =
        "vs best: its geometric mean where another backend is right, too; none of one that failed";
  }
  const std::string unit = table.columns[1].heading;
  for (const auto& [heading, kept] : {std::pair<std::string, std::size_t>{unit, kManyOfNames},
                                      {"fastest", kManyOfNames},
                                      {"noisy", kFewestOfNames},
                                      {"failed", kFewestOfNames}}) {
    if (2 + std::min(names, kept) + figures_width() > width) drop_column(table, heading);
  }
  const std::size_t room = width - std::min(width, 2 + figures_width());
  table.columns.front().most = std::max(room, kFewestOfNames);
}

}  // namespace

std::vector<BackendSummary> backend_summaries(const RunResult& run) {
  const std::vector<Ranking> ranking = rankings(run.records);
  const std::map<ComparisonKey, int> rivals = competitors(run, ranking);
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    const Record& r = run.records[i];
    if (was_not_run(r)) continue;
    auto at = std::ranges::find(entries, r.backend,
                                [](const Entry& each) { return each.summary.backend; });
    if (at == entries.end()) at = entries.insert(at, {{.backend = r.backend}, {}});
    ++at->summary.ran;
    at->summary.fastest += ranking[i].is_best() ? 1 : 0;
    at->summary.failed += r.has_failed() ? 1 : 0;
    at->summary.noisy += is_open(r) ? 1 : 0;
    if (ranking[i].exists()) at->logs.emplace(r, std::log(ranking[i].ratio));
  }
  if (entries.size() < 2 || count_cases(run) < 2) return {};
  for (auto& [summary, logs] : entries) {
    // Over the cases that a backend got right, a mean would flatter one that failed.
    if (summary.failed == 0) summary.geomean = geomean_beside_rivals(logs, rivals);
  }
  return in_order(std::move(entries));
}

Section summary_section(const RunResult& run, std::size_t width) {
  Section section{.table = summary_table(run)};
  if (section.empty()) return {};
  narrow_down(section.table, width);
  section.notes = {legends_of(section.table)};
  return section;
}

}  // namespace attnbench
