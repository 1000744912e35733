// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <ostream>

#include "lib/report/aa_section.h"
#include "lib/report/record_text.h"
#include "lib/report/sinks.h"
#include "lib/report/text_layout.h"
#include "lib/report/units.h"

namespace attnbench {
namespace {

std::string speed_cells(const Record& r) {
  if (!r.claims_speed()) return "– | | | | |";
  return fmt::format("{} | {}{} | {} | {} | {} |", time_text(r.timing.median_us),
                     half_width_text(r), is_open(r) ? "\\*" : "", three_digits(r.gb_per_s()),
                     three_digits(r.tflop_per_s() * 1e3), percent_text(r.roofline));
}

std::string enqueue_cell(const Record& r) {
  return r.claims_speed() && has_device_timer(r) ? time_text(r.timing.enqueue_us) : "";
}

/// What a table row has no place for: once a case.
std::string index_lines(const RunResult& run) {
  std::string text, last;
  for (const Record& r : run.records) {
    if (!has_index_timing(r) || r.case_id == last) continue;
    text += fmt::format("- {}: {}\n", markdown_cell(r.case_id), index_text(r.index));
    last = r.case_id;
  }
  return text.empty() ? text : "\nIndex arrays:\n\n" + text;
}

}  // namespace

void write_markdown(const RunResult& run, std::ostream& out) {
  const Environment& e = run.environment;
  std::string text = fmt::format("### {}\n\n", markdown_cell(run.scenario_name));
  text += fmt::format("attnbench {} ({}), seed {}, {}  \n", e.version, e.git_sha, run.seed,
                      e.started_utc);
  text += fmt::format("{}, {} {}; measured ceilings: read {}, copy {}, {}\n\n", e.device.name,
                      e.threads, e.device.kind == DeviceKind::kCuda ? "SMs" : "threads",
                      si_text(run.ceilings.read_bytes_per_s, "B/s"),
                      si_text(run.ceilings.copy_bytes_per_s, "B/s"),
                      si_text(run.ceilings.flop_per_s, "FLOP/s"));
  text +=
      "| case | backend | cache | launch | median | ± | GB/s | GFLOP/s | roof | plan | enqueue | "
      "verdict | "
      "status | "
      "error/bound | bitwise | reason |\n"
      "|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|---|---|--:|---|---|\n";
  for (const Record& r : run.records) {
    text += fmt::format(
        "| {} | {} | {} | {} | {} {} | {} | {} | {} | {} | `{}` | {} |\n", markdown_cell(r.case_id),
        markdown_cell(r.backend), to_string(r.cache), to_string(r.launch), speed_cells(r),
        r.claims_speed() ? time_text(r.plan.median_us) : "", enqueue_cell(r), verdict_word(r),
        r.status, error_text(r), bitwise_flags(r), markdown_cell(r.reason));
  }
  for (const Record& r : run.records) {
    if (is_failed_row(r)) {
      text += fmt::format("\n{}: {}\n\n    {}\n", verdict_word(r), markdown_cell(cell_name(r)),
                          r.repro);
    }
  }
  text += index_lines(run);
  text += aa_markdown_section(run);
  std::vector<std::string> closing = tally_parts(run);
  if (run.interrupted) closing.emplace_back("interrupted");
  text += '\n' + join_parts(closing, std::string::npos, 0) + '\n';
  out << text;
}

}  // namespace attnbench
