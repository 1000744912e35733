// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "lib/gate/block_plot.h"
#include "lib/gate/gate_text.h"
#include "lib/gate/trend.h"
#include "lib/gate/watch.h"
#include "lib/view/json.h"
#include "lib/view/table.h"
#include "lib/view/text_layout.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

constexpr std::size_t kWidestWatched = 40;
constexpr std::size_t kColumnsOfARun = 3;
constexpr const char* kChangeSign = "▲";
constexpr const char* kGapSign = "×";
constexpr const char* kFailedSign = "!";

std::string day_of(const WatchedRun& run) { return plain_line(run.started_utc.substr(0, 10)); }

/// "5f3c2a1, 2026-11-20".
std::string run_text(const WatchedRun& run) {
  return fmt::format("{}, {}", plain_line(run.commit), day_of(run));
}

class WatchText {
 public:
  WatchText(const WatchReport& report, const TextOptions& options)
      : report_(report), options_(options) {
    several_ = std::ranges::any_of(report.series, [&](const WatchedSeries& series) {
      return series.cell.scenario != report.series.front().cell.scenario;
    });
  }

  [[nodiscard]] std::string text() const {
    std::string text = table();
    for (const WatchedSeries& series : report_.series) {
      if (!series.changes.empty()) text += '\n' + plot(series);
    }
    return text + '\n' + join_parts(summary(), options_.width, 2) + '\n';
  }

 private:
  [[nodiscard]] std::string case_of(const CellKey& cell) const {
    return plain_line(several_ ? cell.scenario + '/' + cell.case_id : cell.case_id);
  }

  [[nodiscard]] std::string value_text(double value) const {
    const std::string& unit = report_.metric->unit;
    if (unit == "us") return time_text(value);
    return three_digits(value) + (unit.empty() ? "" : " " + unit);
  }

  [[nodiscard]] static std::vector<const WatchedPoint*> measured(const WatchedSeries& series) {
    std::vector<const WatchedPoint*> points;
    for (const WatchedPoint& point : series.points) {
      if (point.value) points.push_back(&point);
    }
    return points;
  }

  [[nodiscard]] Row row(const WatchedSeries& series) const {
    const auto points = measured(series);
    Row row{{plain_line(series.cell.backend), case_of(series.cell), mode_text(series.cell),
             points.size() == series.points.size()
                 ? std::to_string(points.size())
                 : fmt::format("{}/{}", points.size(), series.points.size())},
            below(series)};
    if (points.empty()) return row;
    const double first = *points.front()->value, last = *points.back()->value;
    row.cells.insert(row.cells.end(),
                     {points.size() > 2 ? percent_text(series.noise) : "",
                      value_text(first) + " → " + value_text(last), change_text(last / first)});
    return row;
  }

  [[nodiscard]] std::string table() const {
    constexpr auto kLeft = Column::Align::kLeft, kRight = Column::Align::kRight;
    Table table{.columns = {{"backend", kLeft, 0, 0, kWidestWatched},
                            {"case", kLeft, 2, 0, kWidestWatched},
                            {"mode", kLeft},
                            {"runs", kRight},
                            {"noise", kRight},
                            {"first → last", kLeft},
                            {"change", kRight}}};
    for (const WatchedSeries& series : report_.series) table.rows.push_back(row(series));
    std::string text = report_.metric->column + '\n' + terminal_text(table);
    if (std::ranges::any_of(report_.series,
                            [](const WatchedSeries& each) { return measured(each).size() > 2; })) {
      text += wrapped(
          "noise: standard deviation of a single run's figure, estimated from runs that follow "
          "each other",
          options_.width, 0);
    }
    return text;
  }

  /// What a row has no room for.
  [[nodiscard]] std::string below(const WatchedSeries& series) const {
    std::string text;
    if (!series.apart.empty()) {
      const WatchedRun& run = report_.runs[series.points.front().run];
      text += wrapped(fmt::format("a series of its own from {} on: {}", run_text(run),
                                  plain_line(series.apart)),
                      options_.width, 4);
    }
    for (const WatchedChange& change : series.changes) text += change_line(series, change);
    return text + gap_lines(series);
  }

  [[nodiscard]] std::string change_line(const WatchedSeries& series,
                                        const WatchedChange& change) const {
    const WatchedRun& run = report_.runs[series.points[change.point].run];
    std::size_t last = change.point - 1;  // of the level before; its first run is no gap
    while (!series.points[last].value) --last;
    const WatchedRun& before = report_.runs[series.points[last].run];
    const std::string origin =
        run.commit == before.commit
            ? "the same commit as before: not the code, or the sources were edited"
            : fmt::format("before it {}", run_text(before));
    const std::string line = fmt::format(
        "{} {} at {}: {} → {} ({})", kChangeSign, change_text(change.after / change.before),
        run_text(run), value_text(change.before), value_text(change.after), origin);
    const std::string lines = wrapped(line, options_.width, 4);
    return options_.colour ? "\x1b[33m" + lines + "\x1b[0m" : lines;
  }

  /// A line for each stretch of gaps with one reason.
  [[nodiscard]] std::string gap_lines(const WatchedSeries& series) const {
    std::string text;
    for (std::size_t i = 0; i < series.points.size();) {
      const WatchedPoint& first = series.points[i];
      std::size_t end = i + 1;
      while (end < series.points.size() && series.points[end].gap == first.gap) ++end;
      if (!first.gap.empty()) {
        const std::string more =
            end - i == 1 ? "" : fmt::format(" and {}", counted(end - i - 1, "run") + " after it");
        const std::string lines =
            wrapped(fmt::format("{} {}{}: {}", first.failed ? kFailedSign : kGapSign,
                                run_text(report_.runs[first.run]), more, plain_line(first.gap)),
                    options_.width, 4);
        text += options_.colour && first.failed ? "\x1b[31m" + lines + "\x1b[0m" : lines;
      }
      i = end;
    }
    return text;
  }

  [[nodiscard]] std::string plot(const WatchedSeries& series) const {
    BlockPlot plot;
    plot.label = [this](double y) { return value_text(std::exp(y)); };
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const auto x = static_cast<double>(i);
      const WatchedPoint& point = series.points[i];
      if (point.value) {
        plot.points.push_back({x, std::log(*point.value)});
      } else {
        plot.marks.push_back({x, point.failed ? kFailedSign : kGapSign});
      }
    }
    for (const WatchedChange& change : series.changes) {
      plot.marks.push_back({static_cast<double>(change.point), kChangeSign});
    }
    plot.from = run_text(report_.runs[series.points.front().run]);
    plot.to = run_text(report_.runs[series.points.back().run]);
    // Equal distances between runs, and room for what stands below the ends.
    const std::size_t steps = series.points.size() - 1;
    const std::size_t ends = display_width(plot.from) + display_width(plot.to) + 2;
    plot.most_columns = 1 + steps * std::max(kColumnsOfARun, (ends + steps - 1) / steps);
    return fmt::format("{}  {}  {}\n", plain_line(series.cell.backend), case_of(series.cell),
                       mode_text(series.cell)) +
           block_plot(plot, options_.width);
  }

  [[nodiscard]] std::vector<std::string> summary() const {
    std::size_t changed = 0, failed = 0, few = 0;
    for (const WatchedSeries& series : report_.series) {
      changed += series.changes.empty() ? 0u : 1u;
      failed += std::ranges::any_of(series.points, &WatchedPoint::failed) ? 1u : 0u;
      few += measured(series).size() < 2 * kFewestRunsOfALevel ? 1u : 0u;
    }
    std::vector<std::string> parts = {
        fmt::format("{}, {} to {}", counted(report_.runs.size(), "run"),
                    day_of(report_.runs.front()), day_of(report_.runs.back())),
        fmt::format("{} series", report_.series.size()), fmt::format("{} changed", changed)};
    if (failed > 0) parts.push_back(fmt::format("{} with a wrong or crashed result", failed));
    if (few > 0) {
      parts.push_back(fmt::format("{} of fewer than {} values, too few to tell a change", few,
                                  2 * kFewestRunsOfALevel));
    }
    return parts;
  }

  const WatchReport& report_;
  const TextOptions& options_;
  bool several_ = false;  ///< scenarios
};

}  // namespace

void write_watch_terminal(const WatchReport& report, const TextOptions& options,
                          std::ostream& out) {
  out << WatchText(report, options).text();
}

namespace {

Json point_json(const WatchedPoint& point) {
  return {{"run", point.run},
          {"value", point.value ? Json(*point.value) : Json(nullptr)},
          {"gap", point.gap},
          {"failed", point.failed}};
}

Json change_json(const WatchedSeries& series, const WatchedChange& change) {
  return {{"run", series.points[change.point].run},
          {"before", change.before},
          {"after", change.after},
          {"ratio", change.after / change.before}};
}

Json series_json(const WatchedSeries& series) {
  Json points = Json::array(), changes = Json::array();
  for (const WatchedPoint& point : series.points) points.push_back(point_json(point));
  for (const WatchedChange& change : series.changes) {
    changes.push_back(change_json(series, change));
  }
  return {{"scenario", series.cell.scenario},
          {"case", series.cell.case_id},
          {"backend", series.cell.backend},
          {"step", to_string(series.cell.step)},
          {"cache", to_string(series.cell.cache)},
          {"launch", to_string(series.cell.launch)},
          {"apart", series.apart},
          {"noise", series.noise},
          {"changes", std::move(changes)},
          {"points", std::move(points)}};
}

}  // namespace

void write_watch_json(const WatchReport& report, std::ostream& out) {
  Json root = {{"schema", "attnbench.watch"},     {"schema_version", "1.0.0"},
               {"metric", report.metric->column}, {"unit", report.metric->unit},
               {"runs", Json::array()},           {"series", Json::array()}};
  for (const WatchedRun& run : report.runs) {
    root["runs"].push_back(
        {{"file", run.path}, {"commit", run.commit}, {"started_utc", run.started_utc}});
  }
  for (const WatchedSeries& series : report.series) root["series"].push_back(series_json(series));
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace attnbench
