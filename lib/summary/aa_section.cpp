// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/aa_section.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/result/record_text.h"
#include "lib/session/aa_pairs.h"
#include "lib/summary/terminal_columns.h"
#include "lib/view/text_layout.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

std::string signed_percent(double ratio) { return fmt::format("{:+.2f}", (ratio - 1) * 100); }

std::string distance(double ratio) { return fmt::format("{:.2f} %", (ratio - 1) * 100); }

}  // namespace

std::vector<AaRow> aa_rows(const RunResult& run) {
  std::vector<AaRow> rows;
  for (const Record& r : run.records) {
    if (r.aa.pairs == 0) continue;
    rows.push_back({case_name(run, r), std::string(registered_name(r.backend)), cache_and_launch(r),
                    signed_percent(r.aa.median) + " %",
                    r.aa.has_interval()
                        ? fmt::format("{} … {} %", signed_percent(r.aa.lo), signed_percent(r.aa.hi))
                        : "–",
                    distance(r.aa.largest), fmt::format("{}", r.aa.pairs)});
  }
  return rows;
}

std::string aa_floor_text(const RunResult& run) {
  double floor = 0;
  bool known = false;
  for (const Record& r : run.records) {
    if (!r.aa.has_interval()) continue;
    floor = std::max(floor, r.aa.floor());
    known = true;
  }
  if (!known) return "no floor: an interval takes six rounds that timed both";
  return fmt::format("floor {}, the farthest end of an interval: a smaller difference is noise",
                     distance(1 + floor));
}

std::string aa_terminal_section(const RunResult& run, std::size_t width) {
  const std::vector<AaRow> rows = aa_rows(run);
  if (rows.empty()) return {};
  // 2 + 27 + 15 + 8 + 11 + 20 + 11 + 6 = 100; a narrower terminal shortens the case.
  const std::size_t lacking = kTerminalWidth - std::min(width, kTerminalWidth);
  const std::size_t case_width = 27 - std::min<std::size_t>(lacking, 20);
  const auto line = [&](const AaRow& row) {
    return "  " + fit_left(row.case_id, case_width) + "  " + fit_left(row.backend, 13) + "  " +
           fit_left(row.cache, 6) + "  " + fit_right(row.ratio, 9) + "  " +
           fit_right(row.range, 18) + "  " + fit_right(row.largest, 9) + ' ' +
           fit_right(row.pairs, 5) + '\n';
  };
  std::string text = '\n' + wrapped(
                                "A/A: the second of each pair over the first, by round; 95 % CI of "
                                "the median ratio less 1",
                                width, 0);
  text += line({"case", "backend", "cache", "#2 / #1", "95 % CI", "largest", "pairs"});
  for (const AaRow& row : rows) text += line(row);
  return text + wrapped(aa_floor_text(run), width, 2);
}

std::string aa_markdown_section(const RunResult& run) {
  const std::vector<AaRow> rows = aa_rows(run);
  if (rows.empty()) return {};
  std::string text =
      "\nA/A: the second of each pair over the first, by round.\n\n"
      "| case | backend | cache | #2 / #1 | 95 % CI | largest | pairs |\n"
      "|---|---|---|--:|--:|--:|--:|\n";
  for (const AaRow& row : rows) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", markdown_cell(row.case_id),
                        markdown_cell(row.backend), row.cache, row.ratio, row.range, row.largest,
                        row.pairs);
  }
  return text + '\n' + aa_floor_text(run) + '\n';
}

}  // namespace attnbench
