// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <string>

#include "apps/attnbench/command.h"
#include "apps/attnbench/option_values.h"
#include "lib/base/exit_code.h"
#include "lib/result/result_file.h"
#include "lib/trace/stats_report.h"
#include "lib/trace/trace_format.h"
#include "lib/trace/trace_reader.h"
#include "lib/trace/trace_stats.h"

namespace attnbench {
namespace {

struct TraceCommand {
  std::string file, json;
  TraceOptions reading;
};

Trace trace_of(const TraceCommand& command, Console& console) {
  if (!command.json.empty() && command.json != "-") expect_writable(command.json);
  Trace trace = read_trace(command.file, command.reading);
  write_left_out(trace, console.err);
  return trace;
}

int show_stats(const TraceCommand& command, Console& console) {
  const Trace trace = trace_of(command, console);
  const TraceStats stats = trace_stats(trace);
  if (!command.json.empty()) {
    write_result_file(command.json, console.out,
                      [&](std::ostream& out) { write_stats_json(trace, stats, out); });
  }
  // Standard output that is JSON carries nothing else.
  write_stats_text(trace, stats, command.json == "-" ? console.err : console.out);
  return static_cast<int>(ExitCode::kOk);
}

void add_reading_options(CLI::App& app, TraceCommand& command) {
  app.add_option("file", command.file, "log of requests")->required()->check(not_empty());
  std::string names;
  for (const TraceFormat& format : trace_formats()) {
    names += (names.empty() ? "" : ", ") + std::string(format.name);
  }
  app.add_option("--format", command.reading.format,
                 names + "; the one that the first line shows if not given")
      ->check(not_empty());
  app.add_flag("--strict", command.reading.strict, "a malformed row ends the command with exit 4");
  app.add_option("--json", command.json, "write the figures as JSON; - is standard output")
      ->check(not_empty());
}

}  // namespace

void add_trace_command(CLI::App& app, Action& action) {
  CLI::App* trace = app.add_subcommand("trace",
                                       "Read a log of real requests: what it asks of an engine.\n\n"
                                       "  attnbench trace stats AzureLLMInferenceTrace_conv.csv\n");
  trace->require_subcommand(1);
  auto command = std::make_shared<TraceCommand>();
  CLI::App* stats = trace->add_subcommand(
      "stats", "requests, their rate, lengths and bursts, and what a prefix cache could spare");
  add_reading_options(*stats, *command);
  stats->callback([command, &action] {
    action = [command](const KnownBackends&, Console& console) {
      return show_stats(*command, console);
    };
  });
}

}  // namespace attnbench
