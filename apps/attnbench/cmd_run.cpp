// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <ostream>

#include "apps/attnbench/command.h"
#include "apps/attnbench/interrupt.h"
#include "apps/attnbench/progress_line.h"
#include "apps/attnbench/result_file.h"
#include "apps/attnbench/run_outcome.h"
#include "apps/attnbench/words_of.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/bench/backend_choice.h"
#include "lib/bench/driver.h"
#include "lib/bench/isolate/isolated_workshop.h"
#include "lib/bench/local_workshop.h"
#include "lib/device/nvtx_range.h"
#include "lib/report/sinks.h"
#include "lib/report/terminal.h"

namespace attnbench {
namespace {

struct RunOptions {
  std::string scenario;
  RunFilter filter;
  std::vector<CacheState> cache;
  std::vector<LaunchMode> launch;
  std::optional<std::uint64_t> seed;
  std::string json, csv, markdown, junit, google_benchmark;
  std::vector<std::string> outputs;  ///< format by extension
  DeviceOptions devices;
  bool isolate = false;
  double timeout_s = Isolation().timeout_s;
  bool wide = false, quiet = false, quick = false, no_verify = false, strict = false, aa = false;
  bool force_graph = false;
};

using Sink = void (*)(const RunResult&, std::ostream&);

struct Output {
  std::string path;
  Sink write;
};

Sink sink_for(const std::string& path) {
  const auto ends = [&](std::string_view tail) { return path.ends_with(tail); };
  if (ends(".gbench.json")) return write_google_benchmark_json;
  if (ends(".json")) return write_json;
  if (ends(".csv")) return write_csv;
  if (ends(".md")) return write_markdown;
  if (ends(".xml")) return write_junit;
  throw ConfigError(fmt::format(
      "-o {}: the ending names the format: .json .csv .md .xml (JUnit) .gbench.json", path));
}

std::vector<Output> outputs_of(const RunOptions& options) {
  std::vector<Output> outputs;
  const auto add = [&](const std::string& path, Sink sink) {
    if (!path.empty()) outputs.push_back({path, sink});
  };
  add(options.json, write_json);
  add(options.csv, write_csv);
  add(options.markdown, write_markdown);
  add(options.junit, write_junit);
  add(options.google_benchmark, write_google_benchmark_json);
  for (const std::string& path : options.outputs) outputs.push_back({path, sink_for(path)});
  return outputs;
}

Scenario scenario_of(const RunOptions& options) {
  Scenario scenario = load_scenario(options.scenario, options.seed);
  if (!options.cache.empty()) scenario.measure.cache = options.cache;
  if (!options.launch.empty()) scenario.measure.launch = options.launch;
  if (options.no_verify) scenario.verify.enabled = false;
  scenario.measure.aa = options.aa;
  scenario.measure.force_graph = options.force_graph;
  if (options.quick) {
    // Enough to see that everything runs; too few rounds for a claim, so rows come out as noisy.
    scenario.measure.min_rounds = scenario.measure.max_rounds = 3;
    scenario.measure.min_block_samples = scenario.measure.max_block_samples = 1;
  }
  return scenario;
}

/// Writes every file that was asked for. A file that cannot be written costs no result: the first
/// failure prints the results as CSV instead.
bool write_outputs(const RunResult& result, const std::vector<Output>& outputs, Console& console) {
  bool complete = true;
  for (const Output& output : outputs) {
    try {
      write_result_file(output.path, console.out,
                        [&](std::ostream& out) { output.write(result, out); });
    } catch (const EnvironmentError& error) {
      console.err << "error: " << error.what() << '\n';
      if (complete && console.out) {
        console.err << "   the results follow as CSV on standard output\n";
        write_csv(result, console.out);
      }
      complete = false;
    }
  }
  return complete;
}

/// In this process, or in children: then this one opens no GPU.
RunResult run_in_place(const RunOptions& options, const Scenario& scenario,
                       const Registry& registry, const RunHooks& hooks) {
  if (options.isolate) {
    IsolatedWorkshop workshop(scenario, {options.timeout_s, options.devices, hooks.stop_requested});
    return run_scenario(scenario, registry, workshop, options.filter, hooks);
  }
  const Devices devices =
      open_devices(choose_backends(scenario, registry, options.filter), options.devices);
  LocalWorkshop workshop(devices);
  return run_scenario(scenario, registry, workshop, options.filter, hooks);
}

int run(const RunOptions& options, const Registry& registry, Console& console) {
  const Scenario scenario = scenario_of(options);
  const std::vector<Output> outputs = outputs_of(options);
  bool table = true;
  for (const Output& output : outputs) table = table && output.path != "-";

  TerminalReport report(console.out, {.colour = console.out_is_terminal && !std::getenv("NO_COLOR"),
                                      .wide = options.wide,
                                      .quiet = options.quiet || !table});
  ProgressLine progress(console.err, console.err_is_terminal && !options.quiet);

  std::optional<NvtxRange> range;

  RunHooks hooks;
  hooks.started = [&](const RunResult& header) {
    if (table) report.started(header, scenario);
  };
  hooks.case_started = [&](const Case& c, const Cost& cost, std::size_t index, std::size_t count) {
    range.emplace(c.id);
    progress.clear();
    progress.enter_case(c.id, index, count);
    if (table) report.case_started(c, cost);
    console.out.flush();  // a log that is followed shows what is under way
  };
  hooks.progress = [&](const std::string& line, double eta_s) { progress.show(line, eta_s); };
  hooks.record = [&](const Record& record) {
    progress.clear();
    if (table) report.record(record);
  };
  hooks.case_finished = [&](const Case& c) {
    range.reset();
    if (table) report.case_finished(c);
    console.out.flush();
  };
  // With standard output closed and no file to fill, nobody would see the rest.
  hooks.stop_requested = [&] {
    return interrupt_signal() != 0 || (!console.out && outputs.empty());
  };

  const RunResult result = run_in_place(options, scenario, registry, hooks);
  progress.clear();
  const bool written = write_outputs(result, outputs, console);
  const RunOutcome outcome = judge_run(result, {.strict = options.strict,
                                                .outputs_written = written,
                                                .output_closed = !console.out,
                                                .signal = interrupt_signal()});
  if (table) report.finished(result, outcome.exit_code);
  console.out.flush();
  if (!outcome.message.empty()) console.err << outcome.message << '\n';
  return outcome.exit_code;
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* run_app = app.add_subcommand("run",
                                         "Run a scenario: check every backend against the float64 "
                                         "reference, time it, print a table.\n\n"
                                         "  attnbench run scenarios/quickstart.yaml\n"
                                         "  attnbench run scenarios/quickstart.yaml --case 'mla*' "
                                         "--backend cpu_flash --json mla.json\n");
  run_app
      ->add_option("scenario", options->scenario, "scenario file (YAML; see scenarios/README.md)")
      ->required();
  run_app->add_option("--case", options->filter.cases, "only these case ids; * and ? match");
  run_app->add_option("--backend", options->filter.backends,
                      "only these backends, variants (splitkv:dynamic) among them");
  std::map<std::string, CacheState> caches;
  for (const CacheState cache : kCacheStates) caches.emplace(to_string(cache), cache);
  run_app
      ->add_option("--cache", options->cache, "cold, warm and/or serving; overrides the scenario")
      ->option_text("STATE ...")
      ->transform(words_of(caches));
  const std::map<std::string, LaunchMode> launches{{"eager", LaunchMode::kEager},
                                                   {"graph", LaunchMode::kGraph}};
  run_app->add_option("--launch", options->launch, "eager and/or graph; overrides the scenario")
      ->option_text("MODE ...")
      ->transform(words_of(launches));
  run_app->add_flag("--force-graph", options->force_graph,
                    "time graphs that a backend does not claim (a prompt's, cascade's): recordings "
                    "of one batch that no engine could replay for the next; marked graph_forced");
  run_app->add_option("--seed", options->seed, "overrides the scenario's seed");
  run_app
      ->add_option("--threads", options->devices.threads,
                   "CPU threads; 0 = all this process may use")
      ->check(CLI::Range(0, 4096));
  run_app
      ->add_option("--device", options->devices.gpu, "GPU number, as CUDA counts; 0 if not given")
      ->check(CLI::Range(0, 1023));
  run_app->add_flag(
      "--isolate", options->isolate,
      "each backend in a process of its own: one that crashes, hangs or loses its GPU "
      "costs its own cells of one case, as CRASHED with the signal, CUDA call or "
      "timeout; rounds interleave as ever. Each process holds a copy of the fixture");
  run_app
      ->add_option("--timeout", options->timeout_s,
                   "with --isolate: seconds that a process may take for one step (to build a "
                   "fixture, to verify, to plan, one visit of samples) before it is killed")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->needs("--isolate");
  run_app->add_option("--json", options->json, "write results as JSON; '-' = standard output");
  run_app->add_option("--csv", options->csv, "write results as CSV (RFC 4180)");
  run_app->add_option("--markdown", options->markdown, "write the table as Markdown");
  run_app->add_option("--junit", options->junit, "write JUnit XML, one testcase per cell");
  run_app->add_option("--google-benchmark", options->google_benchmark,
                      "write JSON that Google Benchmark's compare.py reads");
  run_app->add_option("-o,--output", options->outputs,
                      "write a file, format by ending: .json .csv .md .xml .gbench.json");
  run_app->add_flag("--wide", options->wide, "every column, however wide");
  run_app->add_flag("--quiet", options->quiet, "only the closing line");
  run_app->add_flag("--quick", options->quick,
                    "3 rounds of 1 sample: a smoke test, not a measurement");
  run_app->add_flag("--no-verify", options->no_verify, "time without checking; no verdicts");
  run_app->add_flag("--aa", options->aa,
                    "time every cell twice, the second as BACKEND#2: how far equal things differ");
  run_app->add_flag("--strict", options->strict,
                    "exit 3 when a cell is noisy, mistrusted or skipped");
  run_app->callback([options, &action] {
    action = [options](const Registry& registry, Console& console) {
      return run(*options, registry, console);
    };
  });
}

}  // namespace attnbench
