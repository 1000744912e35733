// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/markdown_sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <vector>

#include "lib/base/printable.h"
#include "lib/result/ranking.h"
#include "lib/result/record_text.h"
#include "lib/summary/aa_report.h"
#include "lib/summary/backend_summary.h"
#include "lib/summary/doubts.h"
#include "lib/summary/model_step_section.h"
#include "lib/summary/terminal_columns.h"
#include "lib/summary/tuning_summary.h"
#include "lib/view/table.h"
#include "lib/view/text_layout.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

/// A cell of the column that is there only where a cell has a batched graph.
std::string graph_n_cell(const Record& r) {
  if (!r.graph_n.tried()) return "";
  std::string text = graph_n_text(r);
  if (text.back() == '*') text.insert(text.size() - 1, 1, '\\');
  if (!r.graph_n.timed()) return fmt::format("{}: {}", text, r.graph_n.reason);
  return fmt::format("{} (×{})", text, r.graph_n.graph.forwards);
}

Row row_of(const RunResult& run, const Record& r, const Ranking& ranking) {
  Row row{{case_name(run, r), r.backend, std::string(to_string(r.cache)),
           r.graph_forced ? "graph, forced" : std::string(to_string(r.launch))}};
  const auto speed = [&](std::string text) {
    row.cells.push_back(r.claims_speed() ? std::move(text) : "");
  };
  row.cells.push_back(r.claims_speed() ? time_text(r.timing.median_us) : "–");
  speed(half_width_text(r) + (is_open(r) ? "\\*" : ""));
  speed(ranking_text(ranking));
  row.cells.push_back(graph_n_cell(r));
  speed(three_digits(r.gb_per_s()));
  speed(three_digits(r.tflop_per_s() * 1e3));
  speed(percent_text(r.roofline));
  speed(time_text(r.plan.median_us));
  speed(has_device_timer(r) ? time_text(r.timing.enqueue_us) : "");
  for (std::string text : {verdict_word(r), std::string(to_string(r.timing.status)), error_text(r),
                           '`' + bitwise_flags(r) + '`', std::string(r.reason())}) {
    row.cells.push_back(std::move(text));
  }
  return row;
}

constexpr const char* kGraphN = "graph×N";

Table table_of(const RunResult& run) {
  constexpr auto kLeft = Column::Align::kLeft, kRight = Column::Align::kRight;
  Table table{.columns = {{"case", kLeft},
                          {"backend", kLeft},
                          {"cache", kLeft},
                          {"launch", kLeft},
                          {"median", kRight},
                          {"±", kRight},
                          {"vs best", kLeft},
                          {kGraphN, kRight},
                          {"GB/s", kRight},
                          {"GFLOP/s", kRight},
                          {"roof", kRight},
                          {"plan", kRight},
                          {"enqueue", kRight},
                          {"verdict", kLeft},
                          {"status", kLeft},
                          {"err/bound", kRight},
                          {"bit", kLeft},
                          {"reason", kLeft}}};
  const std::vector<Ranking> ranking = rankings(run.records);
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    if (was_not_run(run.records[i])) continue;
    table.rows.push_back(row_of(run, run.records[i], ranking[i]));
  }
  return table;
}

/// What a table row has no place for: once a case.
std::string index_lines(const RunResult& run) {
  std::string text, last;
  for (const Record& r : run.records) {
    if (!has_index_timing(r) || case_name(run, r) == last) continue;
    text += fmt::format("- {}: {}\n", markdown_cell(case_name(run, r)), index_text(r.index));
    last = case_name(run, r);
  }
  return text.empty() ? text : "\nIndex arrays:\n\n" + text;
}

/// What has no row, by case.
std::string not_run_lines(const RunResult& run) {
  std::string text;
  for (auto begin = run.records.begin(); begin != run.records.end();) {
    const auto end = std::find_if(begin, run.records.end(), [&](const Record& r) {
      return r.scenario != begin->scenario || r.case_id != begin->case_id || r.step != begin->step;
    });
    if (const std::string reasons = not_run_text({begin, end}); !reasons.empty()) {
      text +=
          fmt::format("- {}: {}\n", markdown_cell(case_name(run, *begin)), markdown_cell(reasons));
    }
    begin = end;
  }
  return text.empty() ? text : "\nNot run:\n\n" + text;
}

/// "seed 7", or the seed of each of several scenarios.
std::string seeds(const RunResult& run) {
  std::string text;
  for (const ScenarioSource& each : run.scenarios) {
    text += (text.empty() ? "seed " : ", ") + std::to_string(each.seed);
  }
  return text;
}

}  // namespace

void write_markdown(const RunResult& run, std::ostream& out) {
  const Environment& e = run.environment;
  std::string text = fmt::format("### {}\n\n", markdown_cell(scenario_names(run)));
  text +=
      fmt::format("attnbench {} ({}), {}, {}  \n", e.version, e.git_sha, seeds(run), e.started_utc);
  text += fmt::format(
      "{}, {} {}; measured ceilings: read {}, copy {}, {}\n\n", markdown_cell(e.device.name),
      e.threads, e.device.kind == DeviceKind::kCuda ? "SMs" : "threads",
      si_text(run.ceilings.read_bytes_per_s, "B/s"), si_text(run.ceilings.copy_bytes_per_s, "B/s"),
      si_text(run.ceilings.flop_per_s, "FLOP/s"));
  if (const std::string answer = answer_text(run); !answer.empty()) {
    text += markdown_cell(answer) + "\n\n";
  }
  const std::vector<std::string> doubts = doubts_of(run);
  for (const std::string& doubt : doubts) text += "- " + markdown_cell(doubt) + '\n';
  if (!doubts.empty()) text += '\n';
  const bool with_graph_n =
      std::ranges::any_of(run.records, [](const Record& r) { return r.graph_n.tried(); });
  Table table = table_of(run);
  if (!with_graph_n) drop_column(table, kGraphN);
  text += markdown_text(table);
  for (const Record& r : run.records) {
    if (r.has_failed()) {
      text += fmt::format("\n{}: {}\n\n    {}\n", verdict_word(r), markdown_cell(cell_name(run, r)),
                          printable(r.repro));
    }
  }
  text += not_run_lines(run) + index_lines(run);
  // Markdown has GB/s in any row, and all columns.
  text += fmt::format("\n±: half of the 95 % interval; a star: wider than asked for · {}\n",
                      column_legends(terminal_columns({}, true, false, kMostTerminalWidth)));
  if (with_graph_n) text += fmt::format("\n{}\n", kGraphNLegend);
  text += markdown_text(aa_report(run)) + model_steps_markdown_section(run) +
          markdown_text(summary_section(run)) + tuning_markdown_section(run);
  std::vector<std::string> closing = tally_parts(run);
  if (run.interrupted) closing.emplace_back("interrupted");
  text += '\n' + join_parts(closing, std::string::npos, 0) + '\n';
  out << text;
}

}  // namespace attnbench
