// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/glob.h"
#include "lib/config/word_hints.h"
#include "lib/gate/comparability.h"
#include "lib/gate/trend.h"
#include "lib/measure/statistics.h"
#include "lib/result/record_text.h"

namespace attnbench {
namespace {

bool is_measured_number(const RecordField& field) {
  return !field.column.empty() && field.access.type == type_of<double>();
}

[[noreturn]] void unknown_word(const std::string& message, const std::vector<std::string>& words,
                               const std::string& found, const char* introduction) {
  throw ConfigError(
      {Diagnostic{{}, 1, message, allowed_words_hint(words, found, introduction), {}}});
}

bool matches_any(const std::vector<std::string>& patterns, const std::string& word) {
  return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& pattern) {
           return glob_matches(pattern, word);
         });
}

void expect_each_matches(const std::vector<std::string>& patterns, const std::set<std::string>& all,
                         const char* option, const char* introduction) {
  for (const std::string& pattern : patterns) {
    const auto matches = [&](const std::string& word) { return glob_matches(pattern, word); };
    if (std::ranges::any_of(all, matches)) continue;
    unknown_word(fmt::format("{}: no result has '{}'", option, pattern), {all.begin(), all.end()},
                 pattern, introduction);
  }
}

void expect_matches(const std::vector<ResultFile>& files, const WatchOptions& options) {
  std::set<std::string> cases, backends;
  for (const ResultFile& file : files) {
    for (const Record& record : file.run.records) {
      cases.insert(record.case_id);
      backends.insert(record.backend);
    }
  }
  if (cases.empty()) throw ConfigError("nothing matched: the results have no cell");
  expect_each_matches(options.cases, cases, "--case", "cases: ");
  expect_each_matches(options.backends, backends, "--backend", "backends: ");
}

WatchedPoint point_of(std::size_t run, const Record& record, const RecordField& metric) {
  WatchedPoint point{run};
  point.failed = record.has_failed();
  const Json value = point.failed ? Json(nullptr) : value_of(metric, record);
  const double number = value.is_number() ? value.get<double>() : 0;
  if (std::isfinite(number) && number > 0) {
    point.value = number;
    return point;
  }
  point.gap = verdict_word(record);
  if (!record.reason().empty()) {
    point.gap += ": " + record.reason();
  } else {
    point.gap +=
        fmt::format(", {} {}", value.is_null() ? "no" : "no logarithm of this", metric.column);
  }
  return point;
}

/// Puts the records of a cell into series of equal conditions.
class Watcher {
 public:
  Watcher(const std::vector<ResultFile>& files, const RecordField& metric)
      : files_(files), metric_(metric) {}

  /// `records`: of each run, or null where its file has none of this cell.
  void add(const CellKey& cell, const std::vector<const Record*>& records,
           std::vector<WatchedSeries>& all) {
    std::vector<Open> open;
    // Records without a value may know too little of their contents to say where they belong, so
    // they come after all others.
    for (const bool with_value : {true, false}) {
      for (std::size_t run = 0; run < records.size(); ++run) {
        if (records[run] == nullptr) continue;
        WatchedPoint point = point_of(run, *records[run], metric_);
        if (point.value.has_value() == with_value) place(std::move(point), cell, records, open);
      }
    }
    for (std::size_t run = 0; run < records.size(); ++run) {
      if (records[run] == nullptr) miss(run, cell, open);
    }
    for (Open& each : open) {
      std::ranges::sort(each.series.points, {}, &WatchedPoint::run);
      find_changes(each.series);
      all.push_back(std::move(each.series));
    }
  }

 private:
  /// A series and the run that stands for the conditions of all.
  struct Open {
    WatchedSeries series;
    std::size_t run = 0;
  };

  /// Of two runs, as far as a scenario is concerned.
  std::string difference(std::size_t base, std::size_t now, const std::string& scenario) {
    const auto [found, is_new] = differences_.try_emplace({base, now});
    if (is_new) found->second = differences_of(files_[base].run, files_[now].run);
    return text_of(found->second, scenario);
  }

  static std::string text_of(const std::vector<Difference>& differences,
                             const std::string& scenario) {
    std::string text;
    for (const Difference& each : differences) {
      if (!each.scenario.empty() && each.scenario != scenario) continue;
      text += fmt::format("{}another {}: {}", text.empty() ? "" : "; ", each.condition, each.text);
    }
    return text;
  }

  void place(WatchedPoint point, const CellKey& cell, const std::vector<const Record*>& records,
             std::vector<Open>& open) {
    std::string apart;
    // From the last one back: where several would do for a record without a value, the latest does.
    for (auto each = open.rbegin(); each != open.rend(); ++each) {
      std::string text = difference(each->run, point.run, cell.scenario);
      if (text.empty() && point.value) {
        text = text_of(differences_of(*records[each->run], *records[point.run]), cell.scenario);
      }
      if (text.empty()) {
        each->series.points.push_back(std::move(point));
        return;
      }
      if (apart.empty()) apart = text;
    }
    const std::size_t run = point.run;
    open.push_back({{.cell = cell, .apart = std::move(apart), .points = {std::move(point)}}, run});
  }

  /// A file that ran the scenario under the conditions of a series, without the cell.
  void miss(std::size_t run, const CellKey& cell, std::vector<Open>& open) {
    const auto& scenarios = files_[run].run.scenarios;
    if (std::ranges::find(scenarios, cell.scenario, &ScenarioSource::name) == scenarios.end()) {
      return;
    }
    for (auto each = open.rbegin(); each != open.rend(); ++each) {
      if (!difference(each->run, run, cell.scenario).empty()) continue;
      each->series.points.push_back({.run = run, .gap = "not in this file"});
      return;
    }
  }

  static void find_changes(WatchedSeries& series) {
    std::vector<double> logs;
    std::vector<std::size_t> places;  ///< of the values, in the series
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      if (!series.points[i].value) continue;
      logs.push_back(std::log(*series.points[i].value));
      places.push_back(i);
    }
    series.noise = std::expm1(noise_of(logs));
    const std::vector<std::size_t> changes = change_points(logs);
    const auto level = [&](std::size_t begin, std::size_t end) {
      return std::exp(median(std::span(logs).subspan(begin, end - begin)));
    };
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const std::size_t begin = i == 0 ? 0 : changes[i - 1];
      const std::size_t end = i + 1 == changes.size() ? logs.size() : changes[i + 1];
      series.changes.push_back(
          {places[changes[i]], level(begin, changes[i]), level(changes[i], end)});
    }
  }

  const std::vector<ResultFile>& files_;
  const RecordField& metric_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<Difference>> differences_;
};

}  // namespace

const RecordField& metric_field(const std::string& column) {
  std::vector<std::string> columns;
  for (const RecordField& field : record_fields()) {
    if (!is_measured_number(field)) continue;
    if (field.column == column) return field;
    columns.push_back(field.column);
  }
  unknown_word(fmt::format("--metric: no measured number is called '{}'", column), columns, column,
               "allowed here: ");
}

WatchReport watch_runs(std::vector<ResultFile> files, const WatchOptions& options) {
  WatchReport report;
  report.metric = &metric_field(options.metric);
  expect_matches(files, options);
  std::ranges::stable_sort(files, {}, [](const ResultFile& file) -> const std::string& {
    return file.run.environment.started_utc;
  });
  std::map<CellKey, std::vector<const Record*>> cells;
  for (std::size_t run = 0; run < files.size(); ++run) {
    const Environment& environment = files[run].run.environment;
    report.runs.push_back({files[run].path, environment.git_sha, environment.started_utc});
    for (const Record& record : files[run].run.records) {
      if (!matches_any(options.cases, record.case_id)) continue;
      if (!matches_any(options.backends, record.backend)) continue;
      auto& records = cells[CellKey(record)];
      records.resize(files.size());
      records[run] = &record;
    }
  }
  if (cells.empty()) {
    throw ConfigError("nothing matched: no cell is of both the --case and the --backend");
  }
  Watcher watcher(files, *report.metric);
  for (const auto& [cell, records] : cells) watcher.add(cell, records, report.series);
  return report;
}

}  // namespace attnbench
