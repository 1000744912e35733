// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/stats_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "lib/base/printable.h"
#include "lib/view/json.h"
#include "lib/view/table.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

constexpr Column::Align kNumber = Column::Align::kRight;

/// A bar of eighths of a block, `full` columns for `most`.
std::string bar(std::size_t count, std::size_t most, std::size_t full) {
  static constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const std::size_t eighths = most == 0 ? 0 : (count * full * 8 + most - 1) / most;
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text.append(kEighths[eighths % 8]);
}

Row spread_row(const std::string& what, const Spread& spread) {
  Row row{{what}};
  for (const double value :
       {spread.mean, spread.least, spread.p50, spread.p90, spread.p99, spread.most}) {
    row.cells.push_back(fmt::format("{:.0f}", value));
  }
  return row;
}

Table spread_table(const Trace& trace, const TraceStats& stats) {
  Table table;
  table.columns = {{"tokens of a request", Column::Align::kLeft}};
  for (const char* heading : {"mean", "least", "50 %", "90 %", "99 %", "most"}) {
    table.columns.push_back({heading, kNumber});
  }
  table.rows = {spread_row("prompt", stats.input), spread_row("answer", stats.output)};
  if (trace.block_tokens > 0) table.rows.push_back(spread_row("reused prefix", stats.reused));
  return table;
}

Table length_table(const TraceStats& stats) {
  constexpr std::size_t kBar = 24;
  Table table;
  table.columns = {{"tokens up to", kNumber},
                   {"prompts", kNumber},
                   {"", Column::Align::kLeft, 2, kBar},
                   {"answers", kNumber},
                   {"", Column::Align::kLeft}};
  std::size_t most = 0;
  for (const LengthBin& bin : stats.lengths) most = std::max({most, bin.inputs, bin.outputs});
  for (const LengthBin& bin : stats.lengths) {
    table.rows.push_back(
        {{std::to_string(bin.up_to), std::to_string(bin.inputs), bar(bin.inputs, most, kBar),
          std::to_string(bin.outputs), bar(bin.outputs, most, kBar)}});
  }
  return table;
}

Json spread_json(const Spread& spread) {
  return {{"mean", spread.mean}, {"least", spread.least}, {"p50", spread.p50},
          {"p90", spread.p90},   {"p99", spread.p99},     {"most", spread.most}};
}

double share_of(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void write_left_out(const Trace& trace, std::ostream& out) {
  for (const std::string& fault : trace.faults.first) {
    out << "warning: " << printable(fault) << '\n';
  }
  if (trace.faults.count > 0) {
    out << fmt::format("warning: {}: {} left out{}; --strict ends there\n", printable(trace.file),
                       counted(trace.faults.count, "malformed row"),
                       trace.faults.count > trace.faults.first.size()
                           ? fmt::format(", of which {} are named", trace.faults.first.size())
                           : "");
  }
  if (trace.unanswered > 0) {
    out << fmt::format("note: {}: {} left out: no token was answered\n", printable(trace.file),
                       counted(trace.unanswered, "failed request"));
  }
}

void write_stats_text(const Trace& trace, const TraceStats& stats, std::ostream& out) {
  out << fmt::format("{}: {} · {} in {}", printable(trace.file), trace.format,
                     counted(trace.requests.size(), "request"), rough_time(stats.span_s));
  if (stats.requests_per_s > 0) {
    out << fmt::format(" · {} requests/s · gaps vary by {} (independent ones: 1)",
                       three_digits(stats.requests_per_s), three_digits(stats.gap_variation));
  }
  out << fmt::format("\n{} prompt tokens · {} answered tokens", count_text(stats.input_tokens),
                     count_text(stats.output_tokens));
  if (trace.block_tokens > 0) {
    out << fmt::format(" · a prefix cache without a limit hits {} of the prompts' tokens",
                       percent_text(share_of(stats.reused_tokens, stats.input_tokens)));
  }
  out << "\n\n"
      << terminal_text(spread_table(trace, stats)) << '\n'
      << terminal_text(length_table(stats));
}

void write_stats_json(const Trace& trace, const TraceStats& stats, std::ostream& out) {
  Json bins = Json::array();
  for (const LengthBin& bin : stats.lengths) {
    bins.push_back({{"up_to", bin.up_to}, {"inputs", bin.inputs}, {"outputs", bin.outputs}});
  }
  const Json json = {{"file", trace.file},
                     {"format", trace.format},
                     {"requests", trace.requests.size()},
                     {"malformed_rows", trace.faults.count},
                     {"failed_requests", trace.unanswered},
                     {"span_s", stats.span_s},
                     {"requests_per_s", stats.requests_per_s},
                     {"gap_variation", stats.gap_variation},
                     {"block_tokens", trace.block_tokens},
                     {"input_tokens", stats.input_tokens},
                     {"output_tokens", stats.output_tokens},
                     {"reused_tokens", stats.reused_tokens},
                     {"reused_share", share_of(stats.reused_tokens, stats.input_tokens)},
                     {"input", spread_json(stats.input)},
                     {"output", spread_json(stats.output)},
                     {"reused", spread_json(stats.reused)},
                     {"lengths", bins}};
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace attnbench
