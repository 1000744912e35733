// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/run_options.h"

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <random>
#include <set>

#include "apps/attnbench/named_values.h"
#include "apps/attnbench/option_values.h"
#include "lib/base/error.h"
#include "lib/base/system.h"
#include "lib/config/word_hints.h"
#include "lib/isolate/remote_worker.h"

namespace attnbench {
namespace {

constexpr const char* kCells = "What to run";
constexpr const char* kMeasuring = "How to run it";
constexpr const char* kOutput = "What to write";

CLI::Validator valid_shard() {
  return CLI::Validator(
      [](const std::string& text) -> std::string {
        try {
          static_cast<void>(Shard::parse(text));
        } catch (const ConfigError& error) {
          return error.diagnostics().front().message;
        }
        return {};
      },
      "");
}

}  // namespace

std::map<std::string, StepPart> step_words() {
  std::map<std::string, StepPart> words;
  for (const StepPart step : kStepParts) words.emplace(to_string(step), step);
  return words;
}

void declare_mode_options(CLI::App& app, RunOptions& options) {
  std::map<std::string, CacheState> caches;
  for (const CacheState cache : kCacheStates) caches.emplace(to_string(cache), cache);
  add_list_option(app, "--cache", options.cache, caches, "STATE,...",
                  "what the last-level cache holds before each sample: cold (nothing of the step), "
                  "warm (what the same step left) and/or serving (queries, index arrays and plan); "
                  "overrides the scenario");
  const std::map<std::string, LaunchMode> launches{{"eager", LaunchMode::kEager},
                                                   {"graph", LaunchMode::kGraph}};
  add_list_option(app, "--launch", options.launch, launches, "MODE,...",
                  "eager and/or graph (a recorded CUDA graph is replayed); overrides the scenario");
  add_list_option(app, "--step", options.step, step_words(), "PART,...",
                  list_of_parts(&StepPartRow::on_help, " and/or ") + "; overrides the scenario");
}

namespace {

void declare_filter(CLI::App& app, RunOptions& options) {
  app.option_defaults()->group(kCells);
  add_case_option(app, options.filter.cases, "only these case ids; * and ? match; repeatable")
      ->type_name("ID");
  add_backend_option(
      app, options.filter.backends,
      "only these backends; a name may be a variant (splitkv:dynamic) or a pair "
      "(paged_fa+splitkv); * and ? match: 'splitkv:splits=*' tries every value of a tuning "
      "parameter. If not given: those that the scenario names, otherwise all but variants; "
      "with a GPU, a CPU backend then runs only the cases that no GPU backend supports");
  app.add_option("--hybrid", options.hybrid,
                 "best: in cases that mix prompts and decodes, also run every pair of these "
                 "backends, one for the prompts and one for the decodes; a closing line names the "
                 "best pair, with SGLang's flags")
      ->option_text("best")
      ->check(CLI::IsMember({"best"}));
  declare_mode_options(app, options);
}

void declare_shard(CLI::App& app, RunOptions& options) {
  app.add_option("--shard", options.shard,
                 "run only part I of N parts of the cases, for example 2/4; `merge` joins the "
                 "results")
      ->check(valid_shard())
      ->option_text("I/N");
}

void declare_force_graph_and_seed(CLI::App& app, RunOptions& options) {
  app.add_flag("--force-graph", options.force_graph,
               "also time CUDA graphs of steps for which the backend claims none (prompts, "
               "cascade): each is a recording of this one batch, which no engine could replay for "
               "the next; marked graph_forced");
  add_seed_option(app, options.seed);
}

void declare_cells(CLI::App& app, RunOptions& options) {
  app.option_defaults()->group(kCells);
  app.add_option("scenario", options.scenarios, kScenarioHelp)->required();
  declare_filter(app, options);
  declare_shard(app, options);
  declare_force_graph_and_seed(app, options);
  app.add_option("--sample-nonce", options.sample_nonce,
                 "repeats the timed samples of a run whose line to run a cell again names it; "
                 "drawn anew otherwise, so that no answer can be kept from an earlier run")
      ->transform(whole_number("sample-nonce", 0, std::numeric_limits<std::int64_t>::max()));
  app.add_flag("--no-verify", options.no_verify,
               "time without checking results; rows have no verdict");
  app.add_flag("--aa", options.aa,
               "time every cell twice, the second time as BACKEND#2: shows how much two equal "
               "cells differ on this machine");
}

void declare_quiet_wait(CLI::App& app, RunOptions& options) {
  app.option_defaults()->group(kMeasuring);
  app.add_option(
         "--quiet-wait", options.quiet_wait_s,
         "before anything is measured, wait until other programs leave the processors alone, "
         "but no longer than this: 5min")
      ->transform(seconds("quiet-wait"))
      ->type_name("TIME");
  app.add_flag("--instrumented", options.execution.instrumented,
               "kernels are watched by a tool that slows them down, such as compute-sanitizer: the "
               "device's timer is not checked, and no time means anything");
  app.add_flag("--remeasure", options.execution.remeasure,
               "measure the machine's ceilings anew, even if an earlier run since the system's "
               "start has kept them in ~/.cache/attnbench");
}

}  // namespace

void declare_measuring_options(CLI::App& app, RunOptions& options) {
  app.option_defaults()->group(kMeasuring);
  app.add_option("--precision", options.precision,
                 "stop when the interval's half-width is this part of the median: 0.5% or 0.005; "
                 "overrides the scenario")
      ->transform(fraction("precision"))
      ->type_name("FRACTION");
  app.add_option("--rounds", options.rounds,
                 "fewest and most rounds, or one number for both; overrides the scenario")
      ->option_text("MIN,MAX")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(whole_number("rounds", 1, 1'000'000));
  app.add_option("--cell-timeout", options.cell_timeout_s,
                 "most time for the rounds of one cell: 15s, 2min; overrides the scenario")
      ->transform(seconds("cell-timeout"))
      ->type_name("TIME");
  app.add_flag("--quick", options.execution.quick,
               "a smoke test, not a measurement: 3 rounds of 1 sample (crossover: 8 rounds), no "
               "graph of many forwards, and the machine's ceilings measured once");
  add_threads_option(app, options.execution.devices.threads);
  options.cpu_target.add_to(app);
  app.add_option("--device", options.execution.devices.gpu,
                 "GPU number, as CUDA counts; 0 if not given")
      ->transform(whole_number("device", 0, 1023))
      ->type_name("N");
  app.add_flag(
      "--isolate", options.execution.isolate,
      "run each backend in a process of its own: when it crashes, hangs or loses its GPU, only "
      "its cells of that case are lost; they are CRASHED, with the signal, CUDA call or timeout as "
      "the reason. Plug-ins always have one. Backends still take turns; each process holds a copy "
      "of the case's tensors");
  app.add_option("--timeout", options.execution.timeout_s,
                 "with --isolate or a plug-in: how long a backend's process may take "
                 "for one step (to build a fixture, to verify, to plan, one visit of samples) "
                 "before it is killed")
      ->transform(seconds("timeout"))
      ->type_name("TIME")
      ->default_str(fmt::format("{}s", Isolation().timeout_s));
}

namespace {

void declare_output(CLI::App& app, RunOptions& options) {
  app.option_defaults()->group(kOutput);
  add_output_options(app, options.outputs);
  app.add_option("--resume", options.resume,
                 "go on with the run that wrote this file, or that was cut off before it could, "
                 "and write all its files: finished cases are not measured again. Refused on "
                 "another machine, with another binary, scenario, config.json of a model or build "
                 "of a plug-in")
      ->option_text("FILE")
      ->check(not_empty())
      ->excludes("--json");
  app.add_flag("--wide", options.wide, "show every column, however wide the table becomes");
  app.add_flag("--quiet", options.quiet, "print only the closing line");
  app.add_flag("--strict", options.strict, "exit 3 when a cell is noisy, mistrusted or skipped");
}

template <class Value>
void expect_distinct(const char* option, const std::vector<Value>& values) {
  for (auto value = values.begin(); value != values.end(); ++value) {
    if (std::find(values.begin(), value, *value) != value) {
      throw ConfigError(fmt::format("{}: '{}' is listed twice", option, to_string(*value)));
    }
  }
}

void set_rounds(const std::vector<int>& rounds, MeasureConfig& measure) {
  if (rounds.empty()) return;
  if (rounds.size() > 2 || rounds.front() > rounds.back()) {
    throw ConfigError(fmt::format(
        "--rounds {}: takes one number, or the fewest and the most in this order: --rounds 12,40",
        fmt::join(rounds, ",")));
  }
  measure.min_rounds = rounds.front();
  measure.max_rounds = rounds.back();
}

void override_measure(const RunOptions& options, MeasureConfig& measure) {
  if (!options.cache.empty()) measure.cache = options.cache;
  if (!options.launch.empty()) measure.launch = options.launch;
  if (!options.step.empty()) measure.step = options.step;
  measure.aa = options.aa;
  measure.force_graph = options.force_graph;
  if (options.execution.quick) {
    // Enough to see that everything runs; too few rounds for a claim, so rows come out as noisy.
    measure.min_rounds = measure.max_rounds = 3;
    measure.min_block_samples = measure.max_block_samples = 1;
  }
  set_rounds(options.rounds, measure);
  measure.precision = options.precision.value_or(measure.precision);
  measure.cell_timeout_s = options.cell_timeout_s.value_or(measure.cell_timeout_s);
}

/// What a shell in any folder would type for the scenario.
std::string lasting_word(const std::string& word) {
  return word == kStandardInput ? word : lasting_path(find_scenario(word));
}

/// From the system, so that nothing on the command line tells it; of few enough digits to be typed.
std::uint64_t drawn_nonce() {
  std::random_device source;
  return (std::uint64_t{source()} << 16 ^ source()) | 1;  // 0 means none
}

[[noreturn]] void nothing_matches(const std::vector<Scenario>& scenarios,
                                  const std::string& pattern) {
  std::vector<std::string> ids;
  for (const Scenario& scenario : scenarios) {
    for (const Case& c : scenario.cases) ids.push_back(c.id);
  }
  throw ConfigError({Diagnostic{{},
                                1,
                                fmt::format("no case of the scenarios matches '{}'", pattern),
                                allowed_words_hint(ids, pattern, "cases: "),
                                {}}});
}

/// With several scenarios a pattern need match in one of them only.
void expect_each_matches(const std::vector<Scenario>& scenarios,
                         const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    const auto has_it = [&](const Scenario& s) { return any_case_matches(s, pattern); };
    if (std::ranges::none_of(scenarios, has_it)) nothing_matches(scenarios, pattern);
  }
}

std::vector<PlannedRun> runs_with_cases(const RunOptions& options, const KnownBackends& known,
                                        const std::string& program) {
  std::vector<Scenario> scenarios = scenarios_of(options, program);
  const std::vector<std::string>& patterns = options.filter.cases;
  const auto planned = [&](Scenario& scenario, RunFilter filter) {
    Registry registry = known.with_those_of(scenario, filter.backends);
    PlannedRun run{std::move(scenario), std::move(filter), std::move(registry)};
    if (!options.hybrid.empty()) pair_backends(run);
    add_pipelines(run);
    return run;
  };
  std::vector<PlannedRun> runs;
  if (scenarios.size() == 1) {
    runs.push_back(planned(scenarios.front(), options.filter));
    return runs;
  }
  expect_each_matches(scenarios, patterns);
  for (Scenario& scenario : scenarios) {
    RunFilter filter = options.filter;
    std::erase_if(filter.cases,
                  [&](const std::string& p) { return !any_case_matches(scenario, p); });
    if (filter.cases.empty() && !patterns.empty()) continue;
    runs.push_back(planned(scenario, std::move(filter)));
  }
  return runs;
}

void expect_use_of_timeout(const RunOptions& options, const std::vector<PlannedRun>& runs) {
  if (!options.execution.timeout_s || options.execution.isolate) return;
  for (const PlannedRun& run : runs) {
    for (const Registry::Entry* entry : run.plan.backends) {
      const bool absent_plugin = !entry->plugin.empty() && !entry->absence.empty();
      if (!entry->host.empty() || absent_plugin) return;
    }
  }
  throw ConfigError("--timeout requires --isolate: no backend here has a process of its own");
}

/// A given option as it stands on a command line.
void add_words(const CLI::Option& option, std::vector<std::string>& words) {
  const std::string name = "--" + option.get_lnames().front();
  if (option.get_items_expected_max() == 0) {
    words.push_back(name);
  } else {
    words.insert(words.end(), {name, fmt::format("{}", fmt::join(option.results(), ","))});
  }
}

}  // namespace

std::vector<Scenario> scenarios_of(const RunOptions& options, const std::string& program) {
  std::vector<Scenario> scenarios;
  const std::uint64_t nonce = options.sample_nonce ? *options.sample_nonce : drawn_nonce();
  for (const std::string& word : options.scenarios) {
    Scenario scenario = read_scenario(word, options.seed);
    if (std::ranges::find(scenarios, scenario.name, &Scenario::name) != scenarios.end()) {
      throw ConfigError(fmt::format(
          "two scenarios are called '{}': no result could tell them apart", scenario.name));
    }
    override_measure(options, scenario.measure);
    if (options.no_verify) scenario.verify.enabled = false;
    set_sample_nonce(scenario, nonce);
    scenario.command = {program, lasting_word(word), options.repeated.always,
                        options.repeated.hosted};
    scenarios.push_back(std::move(scenario));
  }
  return scenarios;
}

void declare_run_options(CLI::App& app, RunOptions& options) {
  declare_cells(app, options);
  declare_quiet_wait(app, options);
  declare_measuring_options(app, options);
  declare_output(app, options);
}

void declare_options_for_processes(CLI::App& app, RunOptions& options) {
  declare_filter(app, options);
  declare_force_graph_and_seed(app, options);
  declare_measuring_options(app, options);
  app.option_defaults()->group("Options");
}

ProcessWords words_for_processes(const CLI::App& app) {
  ProcessWords words;
  for (const CLI::Option* option : app.get_options()) {
    const std::string& group = option->get_group();
    if ((group != kCells && group != kMeasuring) || option->count() == 0) continue;
    if (option->check_lname("rounds") || option->check_lname("quick")) continue;
    const bool filters =
        group == kCells && !option->check_lname("seed") && !option->check_lname("force-graph");
    std::vector<std::string>& there = filters ? words.filters : words.options;
    if (!option->check_lname("case")) {
      add_words(*option, there);
      continue;
    }
    for (const std::string& id : option->results()) there.insert(there.end(), {"--case", id});
  }
  return words;
}

RepeatedOptions repeated_options(const CLI::App& app) {
  RepeatedOptions repeated;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() != kMeasuring || option->count() == 0) continue;
    if (option->check_lname("quiet-wait") || option->check_lname("remeasure")) continue;  // when
    // Without --isolate, --timeout is refused where no backend has a process of its own.
    const bool hosted_alone = option->check_lname("timeout") && app.count("--isolate") == 0;
    std::vector<std::string>& words = hosted_alone ? repeated.hosted : repeated.always;
    add_words(*option, words);
  }
  return repeated;
}

std::vector<PlannedRun> planned_runs(const RunOptions& options, const KnownBackends& known,
                                     const std::string& program) {
  expect_distinct("--cache", options.cache);
  expect_distinct("--launch", options.launch);
  expect_distinct("--step", options.step);
  std::vector<PlannedRun> runs = runs_with_cases(options, known, program);
  if (!options.shard.empty()) keep_shard(Shard::parse(options.shard), runs);
  for (PlannedRun& run : runs) run.plan = plan_run(run.scenario, run.registry, run.filter);
  expect_use_of_timeout(options, runs);
  return runs;
}

}  // namespace attnbench
