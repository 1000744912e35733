// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <ostream>

#include "apps/attnbench/command.h"
#include "apps/attnbench/interrupt.h"
#include "apps/attnbench/kept_results.h"
#include "apps/attnbench/processor_load.h"
#include "apps/attnbench/progress_line.h"
#include "apps/attnbench/quiet_wait.h"
#include "apps/attnbench/run_in_place.h"
#include "apps/attnbench/run_options.h"
#include "apps/attnbench/run_outcome.h"
#include "lib/base/error.h"
#include "lib/base/printable.h"
#include "lib/device/nvtx_range.h"
#include "lib/report/terminal.h"

namespace attnbench {
namespace {

TerminalOptions table_options(const RunOptions& options, bool table, const Console& console) {
  TerminalOptions shown{.colour = console.out_takes_escapes && !std::getenv("NO_COLOR"),
                        .wide = options.wide,
                        .quiet = options.quiet || !table};
  const std::size_t width = console.out_width ? console.out_width() : 0;
  if (width > 0) shown.width = std::min(width, kMostTerminalWidth);
  return shown;
}

/// The output for people while a run goes on.
struct Display {
  TerminalReport report;
  ProgressLine progress;
  bool table;
  Console& console;
  std::optional<NvtxRange> range{};

  [[nodiscard]] RunHooks hooks_for(const Scenario& scenario, KeptResults& kept) {
    RunHooks hooks;
    hooks.started = [this, &scenario, &kept](const RunResult& header) {
      kept.start(header);
      if (table) report.started(header, scenario);
    };
    hooks.measured_before = [&scenario, &kept](const Case& c, const auto& backends) {
      return kept.finished(scenario, c, backends);
    };
    hooks.case_started = [this](const Case& c, const Cost& cost, std::size_t, std::size_t) {
      range.emplace(c.id);
      progress.next_case(c.id);
      if (table) report.case_started(c, cost);
      console.out.flush();  // `tail -f` of a log then shows the case under way
    };
    hooks.progress = [this](const std::string& line, double case_s) {
      progress.show(line, case_s);
    };
    hooks.record = [this, &kept](const Record& record) {
      progress.clear();
      kept.add(record, console.err);
      if (table) report.record(record);
    };
    hooks.case_finished = [this](const Case& c) {
      range.reset();
      if (table) report.case_finished(c);
      console.out.flush();
    };
    return hooks;
  }
};

/// Often enough that the log of a long run shows that it goes on, and what is left of it.
constexpr double kLogEveryS = 30;

std::size_t count_cases(const std::vector<PlannedRun>& runs) {
  std::size_t count = 0;
  for (const PlannedRun& run : runs) {
    count += select_cases(run.scenario, run.filter).size() * run.scenario.measure.step.size();
  }
  return count;
}

int run(const RunOptions& options, const KnownBackends& known, Console& console) {
  // Every mistake of the user is found here, before anything is measured.
  const std::vector<PlannedRun> runs = planned_runs(options, known, console.program);
  if (runs.size() > 1) {  // run_scenario() would check the first one only
    for (const PlannedRun& each : runs) check_run(each.scenario, each.registry, each.filter);
  }
  for (const std::string& note : notes_on_plugins(runs)) {
    console.err << "note: " << printable(note) << '\n';
  }
  std::vector<std::string> inputs;
  for (const PlannedRun& each : runs) inputs.push_back(each.scenario.path);
  OutputOptions wanted = options.outputs;
  if (!options.resume.empty()) wanted.json = options.resume;
  const std::vector<OutputFile> outputs = checked_outputs(wanted, inputs);
  KeptResults kept(outputs, options.resume);
  catch_interrupts();

  const bool table = !use_standard_output(outputs);
  const bool shows_progress = console.err_takes_escapes && !options.quiet;
  Display display{
      .report{console.out, table_options(options, table, console)},
      .progress{console.err, shows_progress ? console.err_width : std::function<std::size_t()>(),
                count_cases(runs), options.quiet ? 0 : kLogEveryS},
      .table = table,
      .console = console};
  if (options.quiet_wait_s) {
    const std::string note =
        wait_until_quiet(*options.quiet_wait_s,
                         {.watch_a_second = watch_a_second,
                          .progress = [&](const std::string& line) { display.progress.show(line); },
                          .stop_requested = [] { return interrupt_signal() != 0; }});
    display.progress.clear();
    if (!note.empty()) console.err << note << '\n';
  }
  const ProcessorLoad load;
  RunResult result;
  std::string failure;
  for (const PlannedRun& each : runs) {
    RunHooks hooks = display.hooks_for(each.scenario, kept);
    // When standard output has failed and no file is to be written, further results would be lost.
    hooks.stop_requested = [&] {
      return interrupt_signal() != 0 || (!console.out && outputs.empty());
    };
    if (!result.scenarios.empty() && hooks.stop_requested()) {
      result.interrupted = true;
      break;
    }
    try {
      append(result, run_in_place(options, each, hooks));
    } catch (const EnvironmentError& error) {
      if (result.records.empty()) throw;
      failure = error.what();  // the results of earlier scenarios are kept
      break;
    }
  }
  display.progress.clear();
  const std::optional<OtherPrograms> others = load.others();
  kept.add_rest(result);
  const bool written = write_outputs(result, outputs, console);
  if (written) kept.drop();
  console.out.flush();
  const bool closed = !console.out && console.out_reader_is_gone && console.out_reader_is_gone();
  const bool unchecked = std::ranges::any_of(runs, [](const PlannedRun& each) {
    return each.scenario.verify.batch_invariant_required && !each.scenario.verify.enabled;
  });
  const RunOutcome outcome = judge_run(result, {.strict = options.strict,
                                                .requirement_unchecked = unchecked,
                                                .outputs_written = written,
                                                .output_closed = closed,
                                                .output_failed = !console.out && !closed,
                                                .failure = failure,
                                                .signal = interrupt_signal()});
  if (table) display.report.finished(result, outcome.exit_code, others);
  if (!outcome.message.empty()) console.err << outcome.message << '\n';
  return outcome.exit_code;
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* run_app = app.add_subcommand(
      "run",
      "Run scenarios: check every backend against the float64 reference, time it, print a "
      "table.\n\n"
      "  attnbench run scenarios/quickstart.yaml\n"
      "  attnbench run scenarios/quickstart.yaml --case 'mla*' --backend cpu_flash --json "
      "mla.json\n");
  declare_run_options(*run_app, *options);
  run_app->callback([options, run_app, &action] {
    options->repeated = repeated_options(*run_app);
    action = [options](const KnownBackends& known, Console& console) {
      options->devices.cpu_target = options->cpu_target.target();
      return run(*options, known, console);
    };
  });
}

}  // namespace attnbench
