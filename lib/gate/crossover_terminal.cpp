// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "lib/gate/block_plot.h"
#include "lib/gate/crossover.h"
#include "lib/gate/gate_text.h"
#include "lib/view/text_layout.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

/// value, base, new, ratio, interval, who is faster
using CrossoverRow = std::array<std::string, 6>;

constexpr std::size_t kWidestPlot = 72;

/// "3,072".
std::string grouped(std::int64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string leader(const CrossoverReport& report, Lead lead) {
  return lead == Lead::kTie ? "tie" : plain_line(side_of(report, lead));
}

CrossoverRow crossover_row(const CrossoverReport& report, const CrossoverPoint& point) {
  CrossoverRow row{grouped(point.value)};
  if (!point.problem.empty()) return row;
  const RatioInterval& ratio = point.speed.time;
  row[1] = time_text(point.speed.base_us);
  row[2] = time_text(point.speed.new_us);
  row[3] = fmt::format("{:.3f}", ratio.median);
  row[4] = fmt::format("({:.3f} … {:.3f})", ratio.lo, ratio.hi);
  row[5] = leader(report, lead_of(point.speed));
  return row;
}

std::string crossover_table(const CrossoverReport& report, const TextOptions& options) {
  const std::string last_step = report.axis.substr(report.axis.find_last_of('.') + 1);
  std::vector<CrossoverRow> rows = {
      {plain_line(last_step), leader(report, Lead::kBase), leader(report, Lead::kNew), "ratio",
       report.new_case.empty() ? "99 % interval" : "interval", "faster"}};
  for (const CrossoverPoint& point : report.points) rows.push_back(crossover_row(report, point));
  std::array<std::size_t, std::tuple_size_v<CrossoverRow>> widths{};
  for (const CrossoverRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string& problem = i == 0 ? std::string() : report.points[i - 1].problem;
    std::string line = fit_right(rows[i][0], widths[0]);
    for (std::size_t column = 1; column < widths.size(); ++column) {
      line += "  " + (column + 1 < widths.size() ? fit_right(rows[i][column], widths[column])
                                                 : rows[i][column]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
    if (!problem.empty()) {
      const std::string lines = wrapped(plain_line(problem), options.width, 4);
      text += options.colour ? "\x1b[31m" + lines + "\x1b[0m" : lines;
    }
  }
  return text;
}

std::string crossover_plot(const CrossoverReport& report, const TextOptions& options) {
  BlockPlot plot{.level = 0, .most_columns = kWidestPlot};
  plot.label = [](double y) { return fmt::format("{:.2f}", std::exp(y)); };
  for (const CrossoverPoint& point : report.points) {
    if (!point.problem.empty()) continue;
    const RatioInterval& ratio = point.speed.time;
    plot.points.push_back({std::log(static_cast<double>(point.value)), std::log(ratio.median),
                           std::log(ratio.lo), std::log(ratio.hi)});
  }
  if (plot.points.size() < 2) return {};
  const auto stretches = stretches_of(report.points);
  for (std::size_t i = 1; i < stretches.size(); ++i) {
    const auto last = static_cast<double>(stretches[i - 1].last);
    const auto first = static_cast<double>(stretches[i].first);
    plot.marks.push_back({(std::log(last) + std::log(first)) / 2, "▲"});
  }
  plot.from = grouped(stretches.front().first);
  plot.to = grouped(stretches.back().last);
  return fmt::format("\n{} / {}\n", leader(report, Lead::kNew), leader(report, Lead::kBase)) +
         block_plot(plot, options.width) + '\n';
}

}  // namespace

std::string crossover_text(const CrossoverReport& report) {
  const auto stretches = stretches_of(report.points);
  if (stretches.empty()) return "no ratio was measured";
  const CrossoverStretch *front = &stretches.front(), *back = &stretches.back();
  if (front == back) {
    const std::string lead = leader(report, front->lead);
    return fmt::format("no crossover: {} at every value probed, {} to {}",
                       front->lead == Lead::kTie ? "a tie" : lead + " is faster",
                       grouped(front->first), grouped(front->last));
  }
  std::vector<std::string> crossovers, parts;
  for (const CrossoverBracket& each : brackets_of(stretches)) {
    crossovers.push_back(fmt::format("between {} and {}", grouped(each.low), grouped(each.high)));
  }
  for (const CrossoverStretch& each : stretches) {
    const std::string lead = each.lead == Lead::kTie ? "a tie" : leader(report, each.lead);
    parts.push_back(
        &each == front  ? fmt::format("{} up to {}", lead, grouped(each.last))
        : &each == back ? fmt::format("{} from {}", lead, grouped(each.first))
        : each.first == each.last
            ? fmt::format("{} at {}", lead, grouped(each.first))
            : fmt::format("{} from {} to {}", lead, grouped(each.first), grouped(each.last)));
  }
  return fmt::format("{}: {}",
                     crossovers.empty()
                         ? "no crossover, but ties"
                         : fmt::format("crossover {}", fmt::join(crossovers, " and ")),
                     fmt::join(parts, ", "));
}

void write_crossover_terminal(const CrossoverReport& report, const TextOptions& options,
                              std::ostream& out) {
  const std::string axis = plain_line(report.axis), first = plain_line(report.case_id);
  const std::string measured =
      report.new_case.empty()
          ? fmt::format("{} along {}, both backends taking turns", first, axis)
          : fmt::format("{} ({}) and {} ({}) along {}, one after the other", first,
                        plain_line(report.base), plain_line(report.new_case),
                        plain_line(report.now), axis);
  out << wrapped(measured, options.width, 0);
  out << crossover_table(report, options) << crossover_plot(report, options);
  out << wrapped(crossover_text(report), options.width, 0);
  if (!report.ended.empty()) out << wrapped("note: the search " + report.ended, options.width, 0);
}

}  // namespace attnbench
