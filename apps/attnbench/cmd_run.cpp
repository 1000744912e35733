// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "apps/attnbench/command.h"
#include "apps/attnbench/in_process.h"
#include "apps/attnbench/run_options.h"
#include "lib/base/error.h"
#include "lib/base/printable.h"
#include "lib/base/this_process.h"
#include "lib/device/nvtx_range.h"
#include "lib/result/run_journal.h"
#include "lib/run/execute_run.h"
#include "lib/run/processor_load.h"
#include "lib/summary/progress_line.h"
#include "lib/summary/run_outcome.h"
#include "lib/summary/terminal.h"

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

/// Backends of .so files that take part in this process.
std::vector<std::string> plugins_in_process(std::span<const PlannedRun> runs) {
  std::vector<std::string> names;
  for (const PlannedRun& run : runs) {
    for (const Registry::Entry* entry : run.plan.backends) {
      if (entry->make && entry->host.empty() && !entry->plugin.empty()) {
        names.push_back(entry->info.name);
      }
    }
  }
  return names;
}

/// The output for people while a run goes on.
struct Display {
  TerminalReport report;
  ProgressLine progress;
  bool table, quiet;
  Console& console;
  std::optional<ExitGuard> guard{};  ///< where plug-ins are in this process
  std::optional<HangWatch> watch{};  ///< likewise
  std::optional<NvtxRange> range{};
  RunResult so_far{};          ///< what an exit() of a plug-in would leave
  std::string step{};          ///< under way
  std::size_t taken_over = 0;  ///< cases that an earlier run has finished

  void begin(std::string what) {
    step = std::move(what);
    if (watch) watch->step(step);
  }

  void note(const std::string& text) {
    progress.clear();
    console.err << "note: " << printable(text) << std::endl;
  }

  [[nodiscard]] RunHooks hooks_for(const PlannedRun& run, RunJournal& kept) {
    const Scenario& scenario = run.scenario;
    RunHooks hooks;
    hooks.started = [this, &run, &scenario, &kept](const RunResult& header) {
      kept.start(header);
      append(so_far, header);
      if (!table) return;
      report.started(header, scenario);
      const auto here = plugins_in_process({&run, 1});
      if (here.empty() || quiet) return;
      console.out << fmt::format("in process, where nothing protects the run from them: {}\n",
                                 fmt::join(here, ", "));
    };
    hooks.measured_before = [this, &scenario, &kept](const Case& c, const auto& backends) {
      std::vector<Record> records = kept.finished(scenario, c, backends);
      if (!records.empty()) ++taken_over;
      return records;
    };
    hooks.case_started = [this](const Case& c, const Cost& cost) {
      range.emplace(c.id);
      progress.next_case(c.id);
      begin(c.id);
      if (guard) guard->renew();
      if (table) report.case_started(c, cost);
      console.out.flush();  // `tail -f` of a log then shows the case under way
    };
    hooks.progress = [this](const std::string& line, double case_s) {
      begin(line);
      progress.show(line, case_s);
    };
    hooks.record = [this, &kept](const Record& record) {
      progress.clear();
      kept.add(record, console.err);
      so_far.records.push_back(record);
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
  for (const PlannedRun& run : runs) count += run.plan.cases.size();
  return count;
}

int run(const RunOptions& options, const KnownBackends& known, Console& console) {
  // Every mistake of the user is found here, before anything is measured.
  const std::vector<PlannedRun> runs = planned_runs(options, known, console.program);
  for (const auto& notes : {notes_on_plugins(runs), notes_on_steps(runs)}) {
    for (const std::string& note : notes) console.err << "note: " << printable(note) << '\n';
  }
  for (const std::string& trouble : known.troubles()) {
    console.err << "note: " << printable(trouble) << "; the other environments run on\n";
  }
  std::vector<std::string> inputs;
  for (const PlannedRun& each : runs) inputs.push_back(each.scenario.path);
  OutputOptions wanted = options.outputs;
  std::optional<ResumedRun> resumed;
  if (!options.resume.empty()) {
    resumed = find_resumed(options.resume);
    wanted.resumed = resumed->files;
  }
  const std::vector<OutputFile> outputs = checked_outputs(wanted, inputs);
  RunJournal kept(outputs, resumed);
  catch_interrupts();

  const bool table = !use_standard_output(outputs);
  const bool shows_progress = console.err_takes_escapes && !options.quiet;
  Display display{
      .report{console.out, table_options(options, table, console)},
      .progress{console.err, shows_progress ? console.err_width : std::function<std::size_t()>(),
                count_cases(runs), options.quiet ? 0 : kLogEveryS},
      .table = table,
      .quiet = options.quiet,
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
  if (!plugins_in_process(runs).empty()) {
    display.guard.emplace([&] {
      console.err << fmt::format(
          "error: {}: a plug-in in this process (--in-process) called exit()\n", display.step);
      display.so_far.interrupted = true;
      if (write_outputs(display.so_far, outputs, console).complete) kept.drop();
      console.out.flush();
      console.err << fmt::format("   {} cells were finished and are kept\n",
                                 display.so_far.records.size());
    });
    display.watch.emplace(HangWatch::Options{
        .note = [&](const std::string& text) { display.note(text); },
        .signal = interrupt_signal,
        .end =
            [&](int signal) {
              if (!outputs.empty()) {
                display.note("finished cells are in the journal; --resume goes on with them");
              }
              end_process(128 + signal);
            }});
  }
  RunResult result;
  std::string failure = fmt::format("{}", fmt::join(known.troubles(), "; "));
  for (const PlannedRun& each : runs) {
    RunHooks hooks = display.hooks_for(each, kept);
    // When standard output has failed and no file is to be written, further results would be lost.
    hooks.stop_requested = [&] {
      return interrupt_signal() != 0 || (!console.out && outputs.empty());
    };
    if (!result.scenarios.empty() && hooks.stop_requested()) {
      result.interrupted = true;
      break;
    }
    try {
      append(result, execute_run(options.execution, each.scenario, each.plan, hooks,
                                 [&](const std::string& text) { display.note(text); }));
    } catch (const EnvironmentError& error) {
      if (result.records.empty()) throw;
      // The results of earlier scenarios are kept.
      failure += fmt::format("{}{}", failure.empty() ? "" : "; ", error.what());
      break;
    }
  }
  display.watch.reset();
  display.guard.reset();
  display.progress.clear();
  const double wall_s = result.wall_s;
  const TimeAccount spent = result.spent;
  kept.add_rest(result);
  const auto [written, json_sha256] = write_outputs(result, outputs, console);
  if (written) kept.drop();
  result.wall_s = wall_s;  // the closing line is about this run
  result.spent = spent;
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
  if (table) {
    display.report.finished(result, {.exit_code = outcome.exit_code,
                                     .taken_over = display.taken_over,
                                     .json_sha256 = json_sha256});
  }
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
      options->execution.devices.cpu_target = options->cpu_target.target();
      return run(*options, known, console);
    };
  });
}

}  // namespace attnbench
