// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <vector>

#include "lib/gate/gate_sinks.h"
#include "lib/gate/gate_text.h"
#include "lib/view/text_layout.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

constexpr std::size_t kWidestName = 40;

using Row = std::array<std::string, 6>;  ///< backend, case, mode, times, change, interval

std::string_view colour_of_verdict(const Comparison& comparison) {
  if (!comparison.counts()) return "\x1b[2m";
  switch (comparison.judgement.verdict) {
    case GateVerdict::kIncorrect:
    case GateVerdict::kRegressed:
    case GateVerdict::kNotComparable:
      return "\x1b[31m";
    case GateVerdict::kImproved:
    case GateVerdict::kSame:
      return "\x1b[32m";
    default:
      return "\x1b[33m";
  }
}

Row row_of(const Comparison& each, bool with_scenario) {
  Row row{plain_line(each.cell.backend), plain_line(case_text(each.cell, with_scenario)),
          mode_text(each.cell)};
  if (!each.speed) return row;
  row[3] = times_text(each);
  row[4] = change_text(each.speed->time.median);
  row[5] = interval_text(each.speed->time);
  return row;
}

}  // namespace

void write_gate_terminal(const GateReport& report, const GateTerminalOptions& options,
                         std::ostream& out) {
  std::vector<std::pair<const Comparison*, Row>> rows;
  std::array<std::size_t, 6> widths{};
  const bool with_scenario = has_several_scenarios(report);
  std::size_t left_out = 0;
  for (const Comparison& each : report.cells) {  // the most harmful first
    if (!is_listed(each)) continue;
    if (rows.size() == kMostListed) {
      ++left_out;
      continue;
    }
    rows.emplace_back(&each, row_of(each, with_scenario));
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::size_t limit = i < 2 ? kWidestName : std::string::npos;
      widths[i] = std::min(limit, std::max(widths[i], display_width(rows.back().second[i])));
    }
  }
  std::string text;
  for (const auto& [each, row] : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths[i] == 0) continue;
      text += i < 4 ? fit_left(row[i], widths[i]) : fit_right(row[i], widths[i]);
      text += "  ";
    }
    const std::string verdict = verdict_text(*each);
    text +=
        options.colour ? fmt::format("{}{}\x1b[0m", colour_of_verdict(*each), verdict) : verdict;
    text += '\n';
    const std::string why = plain_line(why_text(*each));
    if (!why.empty()) text += wrapped(why, options.width, 4);
    if (is_harm(*each) && !each->repro.empty()) text += "      " + plain_line(each->repro) + '\n';
  }
  if (left_out > 0) text += fmt::format("and {} more, which --json lists\n", left_out);
  if (std::ranges::any_of(rows, [](const auto& row) { return row.first->speed.has_value(); })) {
    text += wrapped(report.confirmed
                        ? "(base → new, change, and in brackets the 99 % interval of the change)"
                        : "(base → new, change, and in brackets what the two 95 % intervals allow)",
                    options.width, 0);
  }
  for (const std::string& remark : report.remarks) {
    text += wrapped("note: " + plain_line(remark), options.width, 0);
  }
  std::vector<std::string> parts = summary_parts(report);
  if (options.exit_code) parts.push_back(fmt::format("exit {}", *options.exit_code));
  text += join_parts(parts, options.width, 2) + '\n';
  const bool suspects = std::ranges::any_of(report.cells, [](const Comparison& each) {
    return each.counts() && each.judgement.verdict == GateVerdict::kSuspect;
  });
  if (suspects && !options.next_step.empty()) {
    text += fmt::format("to confirm: {}\n", plain_line(options.next_step));
  }
  out << text;
}

}  // namespace attnbench
