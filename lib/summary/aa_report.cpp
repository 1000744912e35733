// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/aa_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/result/record_text.h"
#include "lib/session/aa_pairs.h"
#include "lib/summary/terminal_columns.h"

namespace attnbench {
namespace {

std::string signed_percent(double ratio) { return fmt::format("{:+.2f}", (ratio - 1) * 100); }

std::string distance(double ratio) { return fmt::format("{:.2f} %", (ratio - 1) * 100); }

/// "floor 0.41 %: …": what a difference must exceed to be one.
std::string floor_text(const RunResult& run) {
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

}  // namespace

Section aa_report(const RunResult& run, std::size_t width) {
  // 2 + 27 + 15 + 8 + 11 + 20 + 11 + 6 = 100; a narrower terminal shortens the case.
  const std::size_t lacking = kTerminalWidth - std::min(width, kTerminalWidth);
  const std::size_t names = 27 - std::min<std::size_t>(lacking, 20);
  constexpr auto kLeft = Column::Align::kLeft, kRight = Column::Align::kRight;
  Section section;
  section.table.columns = {{"case", kLeft, 2, names, names}, {"backend", kLeft, 2, 13, 13},
                           {"cache", kLeft, 2, 6, 6},        {"#2 / #1", kRight, 2, 9, 9},
                           {"95 % CI", kRight, 2, 18, 18},   {"largest", kRight, 2, 9, 9},
                           {"pairs", kRight, 1, 5, 5}};
  for (const Record& r : run.records) {
    if (r.aa.pairs == 0) continue;
    section.table.rows.push_back(
        {{case_name(run, r), std::string(registered_name(r.backend)), cache_and_launch(r),
          signed_percent(r.aa.median) + " %",
          r.aa.has_interval()
              ? fmt::format("{} … {} %", signed_percent(r.aa.lo), signed_percent(r.aa.hi))
              : "–",
          distance(r.aa.largest), fmt::format("{}", r.aa.pairs)}});
  }
  if (section.empty()) return {};
  section.heading =
      "A/A: the second of each pair over the first, by round; 95 % CI of the median ratio less 1";
  section.notes = {floor_text(run)};
  return section;
}

}  // namespace attnbench
