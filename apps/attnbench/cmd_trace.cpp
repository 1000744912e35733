// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <ostream>
#include <string>

#include "apps/attnbench/command.h"
#include "apps/attnbench/named_values.h"
#include "apps/attnbench/option_values.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/base/int_math.h"
#include "lib/base/system.h"
#include "lib/config/value_reader.h"
#include "lib/result/result_file.h"
#include "lib/trace/cases_report.h"
#include "lib/trace/engine_rules.h"
#include "lib/trace/simulation_report.h"
#include "lib/trace/simulator.h"
#include "lib/trace/stats_report.h"
#include "lib/trace/trace_cases.h"
#include "lib/trace/trace_format.h"
#include "lib/trace/trace_reader.h"
#include "lib/trace/trace_stats.h"
#include "lib/trace/traced_step.h"
#include "lib/view/json.h"

namespace attnbench {
namespace {

struct TraceCommand {
  std::string file, json, steps, scenario;
  std::string model = "llama-3.1-8b";
  std::int64_t count = 8;
  TraceOptions reading;
  EngineRules rules;
};

Trace trace_of(const TraceCommand& command, Console& console) {
  const std::string& other = command.steps.empty() ? command.scenario : command.steps;
  if (!command.json.empty() && command.json == other) {
    throw ConfigError(fmt::format("--json and another output are both '{}'", other));
  }
  for (const std::string& file : {command.json, other}) {
    if (file.empty() || file == "-") continue;
    if (same_file(file, command.file)) {
      throw ConfigError(fmt::format("{}: would overwrite the log", file));
    }
    expect_writable(file);
  }
  Trace trace = read_trace(command.file, command.reading);
  write_left_out(trace, console.err);
  return trace;
}

/// What a command found, as JSON where that was asked for, and for people: on standard error where
/// standard output belongs to a file.
void publish_figures(const TraceCommand& command, Console& console,
                     const std::function<void(std::ostream&)>& write_json,
                     const std::function<void(std::ostream&)>& write_text) {
  if (!command.json.empty()) write_result_file(command.json, console.out, write_json);
  const bool taken = command.json == "-" || command.steps == "-" || command.scenario == "-";
  write_text(taken ? console.err : console.out);
}

int show_stats(const TraceCommand& command, Console& console) {
  const Trace trace = trace_of(command, console);
  const TraceStats stats = trace_stats(trace);
  publish_figures(
      command, console, [&](std::ostream& out) { write_stats_json(trace, stats, out); },
      [&](std::ostream& out) { write_stats_text(trace, stats, out); });
  return static_cast<int>(ExitCode::kOk);
}

int show_simulation(const TraceCommand& command, Console& console) {
  const Trace trace = trace_of(command, console);
  SimulationTotals totals;
  if (command.steps.empty()) {
    totals = simulate(trace, command.rules, [](const TracedStep&) {});
  } else {
    write_result_file(command.steps, console.out, [&](std::ostream& out) {
      write_step_header(out);
      totals = simulate(trace, command.rules,
                        [&](const TracedStep& step) { write_step_row(step, out); });
    });
  }
  publish_figures(
      command, console, [&](std::ostream& out) { write_simulation_json(trace, totals, out); },
      [&](std::ostream& out) { write_simulation_text(trace, totals, out); });
  return static_cast<int>(ExitCode::kOk);
}

/// What the key `model` of a scenario in another folder takes for it.
std::string model_value(const std::string& model) {
  static_cast<void>(resolve_model(model, "--model: "));
  if (!model.ends_with(".json")) return model;
  return fmt::format("{{hf_config: {}}}", Json(lasting_path(model)).dump());
}

int write_cases(const TraceCommand& command, Console& console) {
  const std::string model = model_value(command.model);
  const Trace trace = trace_of(command, console);
  const TraceCases all = trace_cases(trace, command.rules, to_size(command.count));
  write_result_file(command.scenario, console.out,
                    [&](std::ostream& out) { write_cases_scenario(trace, all, model, out); });
  publish_figures(
      command, console, [&](std::ostream& out) { write_cases_json(trace, all, out); },
      [&](std::ostream& out) { write_cases_text(trace, all, out); });
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

void add_time_option(CLI::App& app, const char* name, double& time, const char* what) {
  app.add_option(name, time, fmt::format("{}; {:g}us if not given", what, time * 1e6))
      ->transform(seconds(std::string(name).substr(2)))
      ->type_name("TIME");
}

void add_engine_options(CLI::App& app, EngineRules& rules) {
  app.add_option("--token-budget", rules.token_budget, "most query tokens of a step")
      ->transform(whole_number("token-budget", 1, kMaxSize))
      ->capture_default_str();
  app.add_option("--max-requests", rules.max_requests, "most requests that run at once")
      ->transform(whole_number("max-requests", 1, 65536))
      ->capture_default_str();
  app.add_flag("!--no-chunked-prefill", rules.chunked_prefill,
               "whole prompts in steps of their own, before decodes; otherwise decodes first, then "
               "parts of prompts in order of arrival");
  app.add_option("--cache-tokens", rules.cache_tokens,
                 "tokens that the prefix cache keeps, 0: none; without a limit if not given")
      ->transform(whole_number("cache-tokens", 0, kMaxSize));
  app.add_option("--draft-tokens", rules.draft_tokens, "drafts that a decode verifies")
      ->transform(whole_number("draft-tokens", 0, 1024))
      ->capture_default_str();
  app.add_option("--accept-rate", rules.accept_rate,
                 "chance that a draft is accepted where those before it were")
      ->transform(share("accept-rate"))
      ->capture_default_str();
  app.add_option("--disaggregate", rules.role,
                 "prefill: an engine from which requests go with their first token; decode: one to "
                 "which they come with it")
      ->option_text("prefill|decode")
      ->transform(words_of<EngineRole>(
          {{"prefill", EngineRole::kPrefill}, {"decode", EngineRole::kDecode}}));
  app.add_option("--seed", rules.seed, "decides which drafts are accepted")
      ->transform(whole_number("seed", 0, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  add_time_option(app, "--step-time", rules.time.step_s, "what each step takes");
  add_time_option(app, "--token-time", rules.time.token_s, "what each query token adds to it");
  add_time_option(app, "--key-time", rules.time.key_s, "what each key that is read adds to it");
}

}  // namespace

void add_trace_command(CLI::App& app, Action& action) {
  CLI::App* trace = app.add_subcommand("trace",
                                       "Read a log of real requests: what it asks of an engine, "
                                       "the steps that serve it, a scenario of them.\n\n"
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
  CLI::App* simulation = trace->add_subcommand(
      "simulate", "serve the requests by continuous batching, in simulated time");
  add_reading_options(*simulation, *command);
  add_engine_options(*simulation, command->rules);
  simulation
      ->add_option("--steps", command->steps, "write a CSV, one row a step; - is standard output")
      ->check(not_empty());
  simulation->callback([command, &action] {
    action = [command](const KnownBackends&, Console& console) {
      return show_simulation(*command, console);
    };
  });
  CLI::App* cases = trace->add_subcommand(
      "cases", "cluster the steps of `simulate` into a scenario of a few weighted cases");
  add_reading_options(*cases, *command);
  add_engine_options(*cases, command->rules);
  cases->add_option("--count", command->count, "cases to make")
      ->transform(whole_number("count", 1, 1000))
      ->capture_default_str();
  cases->add_option("--model", command->model, "preset (`attnbench list models`) or config.json")
      ->check(not_empty())
      ->capture_default_str();
  cases->add_option("-o,--output", command->scenario, "scenario to write; - is standard output")
      ->required()
      ->check(not_empty());
  cases->callback([command, &action] {
    action = [command](const KnownBackends&, Console& console) {
      return write_cases(*command, console);
    };
  });
}

}  // namespace attnbench
