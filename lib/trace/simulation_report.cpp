// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/simulation_report.h"

#include <fmt/format.h>

#include <iterator>
#include <ostream>
#include <string>

#include "lib/base/printable.h"
#include "lib/view/json.h"
#include "lib/view/table.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

double ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }

double ratio(std::int64_t part, std::int64_t whole) {
  return ratio(static_cast<double>(part), static_cast<double>(whole));
}

Row time_row(const char* what, const Spread& seconds) {
  Row row{{what}};
  for (const double value : {seconds.mean, seconds.p50, seconds.p90, seconds.p99, seconds.most}) {
    row.cells.push_back(value == 0 ? "0" : time_text(value * 1e6));
  }
  return row;
}

Json times_json(const Spread& seconds) {
  return {{"mean", seconds.mean}, {"least", seconds.least}, {"p50", seconds.p50},
          {"p90", seconds.p90},   {"p99", seconds.p99},     {"most", seconds.most}};
}

}  // namespace

void write_simulation_text(const Trace& trace, const SimulationTotals& totals, std::ostream& out) {
  out << fmt::format("{}: {} served in {} · {}: {} of decodes, {} of prompts, {} of both\n",
                     printable(trace.file), counted(trace.requests.size(), "request"),
                     rough_time(totals.end_s), counted(totals.steps, "step"), totals.decode_steps,
                     totals.prefill_steps, totals.mixed_steps);
  out << fmt::format("{} requests a step, {} of them decodes · busy for {} of the time\n",
                     three_digits(ratio(totals.requests_in_steps, totals.steps)),
                     three_digits(ratio(totals.decodes, totals.steps)),
                     percent_text(ratio(totals.busy_s, totals.end_s)));
  out << fmt::format(
      "{} prompt tokens prefilled, {} hit ({}){} · {} tokens answered · {} keys read\n",
      count_text(totals.prefill_tokens), count_text(totals.hit_tokens),
      percent_text(ratio(totals.hit_tokens, totals.hit_tokens + totals.prefill_tokens)),
      totals.received_tokens == 0
          ? ""
          : fmt::format(", {} received", count_text(totals.received_tokens)),
      count_text(totals.output_tokens), count_text(totals.keys));
  Table table;
  table.columns = {{"simulated time"}};
  for (const char* heading : {"mean", "50 %", "90 %", "99 %", "most"}) {
    table.columns.push_back({heading, Column::Align::kRight});
  }
  if (totals.first_token_s.most > 0) {
    table.rows.push_back(time_row("to the first token", totals.first_token_s));
  }
  if (totals.later_token_s.most > 0) {
    table.rows.push_back(time_row("to each later one", totals.later_token_s));
  }
  out << '\n' << terminal_text(table);
}

void write_simulation_json(const Trace& trace, const SimulationTotals& totals, std::ostream& out) {
  const Json json = {{"file", trace.file},
                     {"format", trace.format},
                     {"requests", trace.requests.size()},
                     {"malformed_rows", trace.faults.count},
                     {"failed_requests", trace.unanswered},
                     {"steps", totals.steps},
                     {"decode_steps", totals.decode_steps},
                     {"prefill_steps", totals.prefill_steps},
                     {"mixed_steps", totals.mixed_steps},
                     {"requests_a_step", ratio(totals.requests_in_steps, totals.steps)},
                     {"decodes_a_step", ratio(totals.decodes, totals.steps)},
                     {"prefill_tokens", totals.prefill_tokens},
                     {"hit_tokens", totals.hit_tokens},
                     {"received_tokens", totals.received_tokens},
                     {"output_tokens", totals.output_tokens},
                     {"keys", totals.keys},
                     {"prefill_pairs", totals.prefill_pairs},
                     {"busy_s", totals.busy_s},
                     {"end_s", totals.end_s},
                     {"first_token_s", times_json(totals.first_token_s)},
                     {"later_token_s", times_json(totals.later_token_s)}};
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

void write_step_header(std::ostream& out) {
  out << "start_s,duration_us,requests,decodes,prefill_tokens,hit_tokens,keys,prefill_pairs\n";
}

void write_step_row(const TracedStep& step, std::ostream& out) {
  fmt::format_to(std::ostreambuf_iterator<char>(out), "{:.6f},{:.3f},{},{},{},{},{},{}\n",
                 step.start_s, step.duration_s * 1e6, step.requests.size(), step.decodes,
                 step.prefill_tokens, step.hit_tokens, step.keys, step.prefill_pairs);
}

}  // namespace attnbench
