// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/gate_options.h"
#include "apps/attnbench/named_values.h"
#include "apps/attnbench/option_values.h"
#include "apps/attnbench/run_options.h"
#include "lib/base/error.h"
#include "lib/base/printable.h"
#include "lib/base/this_process.h"
#include "lib/config/value_reader.h"
#include "lib/gate/crossover.h"
#include "lib/measure/statistics.h"
#include "lib/result/record_text.h"
#include "lib/result/result_file.h"
#include "lib/run/execute_run.h"
#include "lib/summary/progress_line.h"
#include "lib/summary/run_outcome.h"

namespace attnbench {
namespace {

struct CrossoverCommand {
  std::string scenario, case_id, new_case, axis, base, now;
  std::optional<StepPart> new_step;
  CrossoverAxis search;
  RunOptions run;
  GateOptions outputs;  ///< of which only --json is offered
};

/// The interval of a ratio is one of 99 %.
const int kFewestPairs = fewest_values(0.99);

/// The id of the one case that `pattern` matches.
std::string only_case_id(const PlannedRun& run, const char* option, const std::string& pattern) {
  const auto cases = select_cases(run.scenario, {{pattern}, run.filter.backends});
  if (cases.size() == 1) return cases.front()->id;
  throw ConfigError(fmt::format("{} '{}' matches {} cases, and crossover takes one, such as {}",
                                option, pattern, cases.size(), cases.front()->id));
}

/// Throws ConfigError unless each case has one cell, of enough rounds.
void check_measure(const MeasureConfig& measure) {
  if (measure.cache.size() * measure.launch.size() * measure.step.size() != 1) {
    throw ConfigError(
        "the scenario measures several cache states, launches or steps: choose one of each with "
        "--cache, --launch and --step");
  }
  if (measure.max_rounds < kFewestPairs) {
    throw ConfigError(fmt::format("{} rounds: the 99 % interval of a ratio takes {} (--rounds)",
                                  measure.max_rounds, kFewestPairs));
  }
}

/// The scenario with its options, of both sides; both cells of a point are of one cache state and
/// launch, and of one step unless the new one has its own.
struct Sides {
  PlannedRun base;
  std::optional<PlannedRun> with_new_step = {};

  [[nodiscard]] const PlannedRun& now() const { return with_new_step ? *with_new_step : base; }
};

Sides planned(CrossoverCommand& command, const KnownBackends& known, Console& console) {
  if (command.new_step && command.new_case.empty()) command.new_case = command.case_id;
  const bool two_cases = !command.new_case.empty();
  if (command.base == command.now && !two_cases) {
    throw ConfigError(fmt::format("--base and --new are both '{}'", command.base));
  }
  if (command.search.from >= command.search.to) {
    throw ConfigError(fmt::format("--from {} --to {}: the smaller end comes first",
                                  command.search.from, command.search.to));
  }
  // A smoke test, too, needs the rounds of an interval.
  if (command.run.execution.quick && command.run.rounds.empty())
    command.run.rounds = {kFewestPairs};
  command.run.scenarios = {command.scenario};
  command.run.filter = {{command.case_id}, {command.base}};
  if (!command.new_step) {
    if (two_cases) command.run.filter.cases.push_back(command.new_case);
    if (command.now != command.base) command.run.filter.backends.push_back(command.now);
  }
  const auto plan = [&](const RunOptions& options) {
    return std::move(planned_runs(options, known, console.program).front());
  };
  Sides sides{plan(command.run)};
  if (command.new_step) {
    RunOptions options = command.run;
    options.filter = {{command.new_case}, {command.now}};
    options.step = {*command.new_step};
    sides.with_new_step = plan(options);
  }
  command.case_id = only_case_id(sides.base, "--case", command.case_id);
  if (two_cases) command.new_case = only_case_id(sides.now(), "--new-case", command.new_case);
  if (command.case_id == command.new_case && !command.new_step) {
    throw ConfigError(fmt::format("--case and --new-case are both '{}'", command.case_id));
  }
  check_measure(sides.base.scenario.measure);
  return sides;
}

/// The run of some backends at one value of a case's axis. Throws ConfigError for a value that the
/// case cannot have.
PlannedRun at_value(const PlannedRun& planned, const std::string& case_id, const std::string& axis,
                    std::int64_t value, std::vector<std::string> backends) {
  PlannedRun run{planned.scenario, {}, planned.registry};
  Scenario& scenario = run.scenario;
  scenario.axis = CaseAxis{case_id, axis, {value}};
  scenario.cases = parse_scenario(scenario.text, scenario.path, scenario.seed, scenario.axis).cases;
  set_sample_nonce(scenario, scenario.sample_nonce);
  run.filter = {{scenario.cases.front().id}, std::move(backends)};
  run.plan = plan_run(scenario, run.registry, run.filter);
  return run;
}

/// What is run for one point: both backends by turns, or each on a case of its own.
std::vector<PlannedRun> runs_at(const Sides& sides, const CrossoverCommand& command,
                                std::int64_t value) {
  const auto run = [&](const PlannedRun& side, const std::string& case_id,
                       std::vector<std::string> backends) {
    return at_value(side, case_id, command.axis, value, std::move(backends));
  };
  std::vector<PlannedRun> runs;
  if (command.new_case.empty()) {
    runs.push_back(run(sides.base, command.case_id, {command.base, command.now}));
  } else {
    runs.push_back(run(sides.base, command.case_id, {command.base}));
    runs.push_back(run(sides.now(), command.new_case, {command.now}));
  }
  return runs;
}

/// What the records of both sides say: of one run, or each of its own. A backend that has none has
/// not taken part.
CrossoverPoint point_of(const CrossoverCommand& command, std::int64_t value,
                        const std::vector<RunResult>& results) {
  CrossoverPoint point{value};
  const bool two_cases = !command.new_case.empty();
  const auto complain = [&](const std::string& side, const std::string& reason) {
    point.problem += fmt::format("{}{}: {}", point.problem.empty() ? "" : "; ", side, reason);
  };
  const auto timed = [&](const RunResult& result, const std::string& backend,
                         const std::string& case_id) -> const Record* {
    const std::string side = two_cases ? fmt::format("{} ({})", case_id, backend) : backend;
    const auto record = std::ranges::find(result.records, backend, &Record::backend);
    if (record == result.records.end()) {
      complain(side, "not measured");
    } else if (!record->claims_speed()) {
      complain(side,
               verdict_word(*record) + (record->reason().empty() ? "" : ": ") + record->reason());
    } else {
      return &*record;
    }
    return nullptr;
  };
  const Record* base = timed(results.front(), command.base, command.case_id);
  const Record* now = timed(results.back(), command.now, command.new_case);
  if (base == nullptr || now == nullptr) return point;
  if (two_cases) {
    point.speed = evidence_of(base->timing, now->timing);
    return point;
  }
  point.speed = evidence_of(pairs_by_round(base->timing, now->timing));
  if (point.speed.pairs < kFewestPairs) {
    point.problem = fmt::format("{} rounds timed both, and a 99 % interval takes {}",
                                point.speed.pairs, kFewestPairs);
  }
  return point;
}

int crossover(CrossoverCommand& command, const KnownBackends& known, Console& console) {
  const Sides whole = planned(command, known, console);
  check_gate_outputs(command.outputs, {whole.base.scenario.path});
  // Both ends are read before anything is measured: most mistakes show there.
  for (const std::int64_t end : {command.search.from, command.search.to}) {
    static_cast<void>(runs_at(whole, command, end));
  }
  catch_interrupts();
  ProgressLine progress(
      console.err, console.err_takes_escapes ? console.err_width : std::function<std::size_t()>(),
      static_cast<std::size_t>(command.search.most_points) * (command.new_case.empty() ? 1 : 2));
  RunHooks hooks;
  hooks.case_started = [&](const Case& c, const Cost&) { progress.next_case(c.id); };
  hooks.progress = [&](const std::string& line, double case_s) { progress.show(line, case_s); };
  hooks.stop_requested = [] { return interrupt_signal() != 0; };

  RunResult all;
  const auto probe = [&](std::int64_t value) -> std::optional<CrossoverPoint> {
    if (interrupt_signal() != 0) return std::nullopt;
    std::vector<RunResult> results;
    for (const PlannedRun& run : runs_at(whole, command, value)) {
      results.push_back(execute_run(command.run.execution, run.scenario, run.plan, hooks));
    }
    CrossoverPoint point = point_of(command, value, results);
    for (RunResult& result : results) append(all, std::move(result));
    if (interrupt_signal() != 0 && !point.problem.empty()) return std::nullopt;
    return point;
  };
  CrossoverReport report{command.case_id, command.axis, command.base, command.now};
  report.new_case = command.new_case;
  report.step = to_string(whole.base.scenario.measure.step.front());
  if (command.new_step) report.new_step = to_string(*command.new_step);
  search_crossover(command.search, probe, report);
  progress.clear();
  const std::string& json = command.outputs.json;
  const PlainOutput plain = plain_output(json == "-", console);
  write_crossover_terminal(report, plain.options, plain.out);
  const RunOutcome outcome = judge_run(all, {.signal = interrupt_signal()});
  if (!outcome.message.empty()) console.err << outcome.message << '\n';
  if (!json.empty()) {
    write_result_file(json, console.out, [&](std::ostream& out) {
      write_crossover_json(report, all, outcome.exit_code, out);
    });
  }
  return outcome.exit_code;
}

CLI::Validator axis_value(const char* what) { return whole_number(what, 1, kMaxSize); }

}  // namespace

void add_crossover_command(CLI::App& app, Action& action) {
  auto command = std::make_shared<CrossoverCommand>();
  CLI::App* crossover_app = app.add_subcommand(
      "crossover",
      "Find the value of one number of a case at which two backends swap places. Both are checked "
      "and timed, taking turns, at both ends of a range, and then by bisection until neighbouring "
      "values differ by less than 5 %.\n\n"
      "  attnbench crossover s.yaml --case chat --axis 'batch[0].kv_len' --from 512 --to 128k "
      "--base splitkv --new paged_fa\n"
      "  attnbench crossover s.yaml --case chat --axis batch.chat.count --from 1 --to 256 --base "
      "cpu_flash --new splitkv\n"
      "  attnbench crossover mla_forms.yaml --case extend_64_absorbed --new-case "
      "extend_64_expanded --axis 'batch[0].q_len' --from 16 --to 512 --base mla --new paged_fa\n"
      "  attnbench crossover s.yaml --case dense --new-case sparse --new-step pipeline --axis "
      "'batch[0].kv_len' --from 1k --to 128k --base mla --new indexer_cuda+topk_cuda+mla\n");
  crossover_app->add_option("scenario", command->scenario, kScenarioHelp)->required();
  crossover_app->add_option("--case", command->case_id, "the case, by its id")
      ->option_text("ID")
      ->required();
  crossover_app
      ->add_option("--new-case", command->new_case,
                   "another case for the new backend, which may be the same one then; the two are "
                   "measured one after the other")
      ->option_text("ID")
      ->check(not_empty());
  const auto steps = step_words();
  crossover_app
      ->add_option_function<std::string>(
          "--new-step",
          [command, steps](const std::string& word) { command->new_step = steps.at(word); },
          "another part of the step for the new backend, as --step names it: a pipeline that "
          "chooses keys, beside attention to all")
      ->option_text("PART")
      ->check(words_of(steps));
  crossover_app
      ->add_option("--axis", command->axis,
                   "a key of its mix, as a sweep names it: batch[0].kv_len")
      ->option_text("PATH")
      ->required();
  crossover_app->add_option("--from", command->search.from, "the smallest value: 512, 4k")
      ->transform(axis_value("from"))
      ->required();
  crossover_app->add_option("--to", command->search.to, "the largest value")
      ->transform(axis_value("to"))
      ->required();
  crossover_app->add_option("--base", command->base, "a backend")->option_text("NAME")->required();
  crossover_app->add_option("--new", command->now, "the backend to compare with it")
      ->option_text("NAME")
      ->required();
  crossover_app
      ->add_option(
          "--points", command->search.most_points,
          fmt::format("values to measure at most; {} if not given", CrossoverAxis().most_points))
      ->transform(whole_number("points", 2, 1000));
  crossover_app
      ->add_option("--json", command->outputs.json,
                   "write every value and the crossovers as JSON; '-' = standard output")
      ->check(not_empty());
  declare_mode_options(*crossover_app, command->run);
  add_seed_option(*crossover_app, command->run.seed);
  declare_measuring_options(*crossover_app, command->run);
  crossover_app->callback([command, crossover_app, &action] {
    command->run.repeated = repeated_options(*crossover_app);
    action = [command](const KnownBackends& known, Console& console) {
      command->run.execution.devices.cpu_target = command->run.cpu_target.target();
      return crossover(*command, known, console);
    };
  });
}

}  // namespace attnbench
