// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "lib/gate/block_plot.h"
#include "lib/gate/crossover.h"
#include "lib/gate/gate_sinks.h"
#include "lib/gate/gate_text.h"
#include "lib/result/record.h"
#include "lib/result/run_json.h"
#include "lib/view/json.h"
#include "lib/view/table.h"
#include "lib/view/text_layout.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

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

Row row_of(const CrossoverReport& report, const CrossoverPoint& point, const TextOptions& options) {
  Row row{{grouped(point.value)}};
  if (!point.problem.empty()) {
    const std::string lines = wrapped(plain_line(point.problem), options.width, 4);
    row.below = options.colour ? "\x1b[31m" + lines + "\x1b[0m" : lines;
    return row;
  }
  const RatioInterval& ratio = point.speed.time;
  row.cells.insert(row.cells.end(), {time_text(point.speed.base_us), time_text(point.speed.new_us),
                                     fmt::format("{:.3f}", ratio.median),
                                     fmt::format("({:.3f} … {:.3f})", ratio.lo, ratio.hi),
                                     leader(report, lead_of(point.speed))});
  return row;
}

std::string crossover_table(const CrossoverReport& report, const TextOptions& options) {
  constexpr auto kRight = Column::Align::kRight;
  const std::string last_step = report.axis.substr(report.axis.find_last_of('.') + 1);
  Table table{.columns = {{plain_line(last_step), kRight, 0},
                          {leader(report, Lead::kBase), kRight},
                          {leader(report, Lead::kNew), kRight},
                          {"ratio", kRight},
                          {report.new_case.empty() ? "99 % interval" : "interval", kRight},
                          {"faster"}}};
  for (const CrossoverPoint& point : report.points) {
    table.rows.push_back(row_of(report, point, options));
  }
  return terminal_text(table);
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
  const auto side = [&](const std::string& id, const std::string& step,
                        const std::string& backend) {
    return fmt::format("{} ({}{})", plain_line(id), report.new_step.empty() ? "" : step + " of ",
                       plain_line(backend));
  };
  const std::string measured =
      report.new_case.empty()
          ? fmt::format("{} along {}, both backends taking turns", first, axis)
          : fmt::format("{} and {} along {}, one after the other",
                        side(report.case_id, report.step, report.base),
                        side(report.new_case, report.new_step, report.now), axis);
  out << wrapped(measured, options.width, 0);
  out << crossover_table(report, options) << crossover_plot(report, options);
  out << wrapped(crossover_text(report), options.width, 0);
  if (!report.ended.empty()) out << wrapped("note: the search " + report.ended, options.width, 0);
}

namespace {

/// The backend that is faster, or where there are two, the case; null: neither is.
Json leader_json(const CrossoverReport& report, Lead lead) {
  if (lead == Lead::kTie) return nullptr;
  return side_of(report, lead);
}

Json probed_json(const CrossoverReport& report, const CrossoverPoint& point) {
  const bool timed = point.problem.empty();
  return {{"value", point.value},
          {"faster", timed ? leader_json(report, lead_of(point.speed)) : Json(nullptr)},
          {"speed", timed ? speed_json(point.speed) : Json(nullptr)},
          {"problem", point.problem}};
}

Json stretch_json(const CrossoverReport& report, const CrossoverStretch& stretch) {
  return {{"faster", leader_json(report, stretch.lead)},
          {"first", stretch.first},
          {"last", stretch.last}};
}

Json bracket_json(const CrossoverReport& report, const CrossoverBracket& bracket) {
  return {{"low", bracket.low},
          {"high", bracket.high},
          {"faster_before", leader_json(report, bracket.before)},
          {"faster_after", leader_json(report, bracket.after)}};
}

}  // namespace

void write_crossover_json(const CrossoverReport& report, const RunResult& run, int exit_code,
                          std::ostream& out) {
  const Json circumstances = run_json(run);
  Json root = {{"schema", "attnbench.crossover"},
               {"schema_version", "1.2.0"},
               {"case", report.case_id},
               {"new_case", report.new_case.empty() ? Json(nullptr) : Json(report.new_case)},
               {"axis", report.axis},
               {"base", report.base},
               {"new", report.now},
               {"step", report.step},
               {"new_step", report.new_step.empty() ? Json(nullptr) : Json(report.new_step)},
               {"environment", circumstances.at("environment")},
               {"scenario", circumstances.at("scenario")},
               {"interrupted", report.interrupted},
               {"exit_code", exit_code},
               {"ended", report.ended},
               {"verdict", crossover_text(report)},
               {"crossovers", Json::array()},
               {"stretches", Json::array()},
               {"points", Json::array()}};
  const auto stretches = stretches_of(report.points);
  for (const CrossoverBracket& each : brackets_of(stretches)) {
    root["crossovers"].push_back(bracket_json(report, each));
  }
  for (const CrossoverStretch& each : stretches) {
    root["stretches"].push_back(stretch_json(report, each));
  }
  for (const CrossoverPoint& each : report.points) {
    root["points"].push_back(probed_json(report, each));
  }
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace attnbench
