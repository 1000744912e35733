// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "lib/gate/gate_sinks.h"
#include "lib/gate/gate_text.h"
#include "lib/view/table.h"
#include "lib/view/text_layout.h"

namespace attnbench {
namespace {

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

Row row_of(const Comparison& each, bool with_scenario, const GateTerminalOptions& options) {
  Row row{{plain_line(each.cell.backend), plain_line(case_text(each.cell, with_scenario)),
           mode_text(each.cell), times_text(each), "", "", verdict_text(each)}};
  if (each.speed) {
    row.cells[4] = change_text(each.speed->time.median);
    row.cells[5] = interval_text(each.speed->time);
  }
  if (options.colour) row.colour = colour_of_verdict(each);
  const std::string why = plain_line(why_text(each));
  if (!why.empty()) row.below += wrapped(why, options.width, 4);
  if (is_harm(each) && !each.repro.empty()) row.below += "      " + plain_line(each.repro) + '\n';
  return row;
}

}  // namespace

void write_gate_terminal(const GateReport& report, const GateTerminalOptions& options,
                         std::ostream& out) {
  constexpr auto kLeft = Column::Align::kLeft, kRight = Column::Align::kRight;
  Table table{.columns = {{"", kLeft, 0, 0, kWidestName},
                          {"", kLeft, 2, 0, kWidestName},
                          {},
                          {},
                          {"", kRight},
                          {"", kRight},
                          {}}};
  const bool with_scenario = has_several_scenarios(report);
  std::size_t left_out = 0;
  bool any_speed = false;
  for (const Comparison& each : report.cells) {  // the most harmful first
    if (!is_listed(each)) continue;
    if (table.rows.size() == kMostListed) {
      ++left_out;
      continue;
    }
    table.rows.push_back(row_of(each, with_scenario, options));
    any_speed |= each.speed.has_value();
  }
  std::string text = terminal_text(table);
  if (left_out > 0) text += fmt::format("and {} more, which --json lists\n", left_out);
  if (any_speed) {
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
