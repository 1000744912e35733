// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <ostream>
#include <string>

#include "apps/attnbench/command.h"
#include "apps/attnbench/judge_candidate.h"
#include "apps/attnbench/named_values.h"
#include "apps/attnbench/option_values.h"
#include "lib/base/this_process.h"
#include "lib/summary/judgement_text.h"

namespace attnbench {
namespace {

/// A step of a kernel of quickstart's size takes milliseconds; its import may take long.
constexpr double kStepS = 30;

int judge(const JudgeOptions& options, bool json, const KnownBackends& known, Console& console) {
  const CandidateJudgement judgement = judge_candidate(options, known, console);
  if (interrupt_signal() != 0) {
    console.err << fmt::format("stopped by signal {}: there is no verdict\n", interrupt_signal());
    return 128 + interrupt_signal();
  }
  console.out << (json ? judgement_json(judgement).dump(-1, ' ', false,
                                                        Json::error_handler_t::replace) +
                             '\n'
                       : judgement_text(judgement));
  return verdict_exit_code(judgement.verdict);
}

}  // namespace

void add_judge_command(CLI::App& app, Action& action) {
  struct Given {
    JudgeOptions options;
    std::string scenario, json;
  };
  auto given = std::make_shared<Given>();
  CLI::App* command = app.add_subcommand(
      "judge",
      "Give one verdict and one score for a kernel in a file: accepted, incorrect, cheating "
      "suspected, crashed or inconclusive. It runs beside other backends on every case of a "
      "scenario.\n\n"
      "  attnbench judge mine.py scenarios/quickstart.yaml\n"
      "  attnbench judge mine.so scenarios/quickstart.yaml --against cpu_flash --json -\n\n"
      "The score says how many times as fast as --against it is: the geometric mean over the "
      "cases. "
      "Exit codes: 0 accepted, 2 incorrect, crashed or cheating suspected, 3 inconclusive.\n");
  JudgeOptions& options = given->options;
  command->add_option("candidate", options.candidate, "a .so or .py file with backends")
      ->required();
  command->add_option("scenario", given->scenario, kScenarioHelp)->required();
  command
      ->add_option("--against", options.against,
                   "the backends whose fastest right one a cell is compared with; * and ? match. "
                   "If not given: those of this program for the candidate's device")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("NAME,...");
  command
      ->add_option("--backend", options.backends,
                   "only these backends of the candidate's file; all if not given")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("NAME,...");
  command->add_option("--json", given->json, "print the verdict as one line of JSON instead")
      ->option_text("-")
      ->check(CLI::IsMember({"-"}));
  options.run.cache = {CacheState::kCold, CacheState::kServing};
  options.run.launch = {LaunchMode::kEager, LaunchMode::kGraph};
  declare_mode_options(*command, options.run);
  options.run.execution.timeout_s = kStepS;
  command
      ->add_option("--timeout", options.run.execution.timeout_s,
                   "most time for one step of the candidate, such as one visit of samples; it has "
                   "crashed then")
      ->transform(seconds("timeout"))
      ->type_name("TIME")
      ->default_str(fmt::format("{}s", kStepS));
  command
      ->add_option("--limit", options.limit_s,
                   "most time for all of it; the verdict is inconclusive then")
      ->transform(seconds("limit"))
      ->type_name("TIME")
      ->default_str(fmt::format("{}s", options.limit_s));
  command->callback([given, &action] {
    action = [given](const KnownBackends& known, Console& console) {
      given->options.run.scenarios = {given->scenario};
      return judge(given->options, !given->json.empty(), known, console);
    };
  });
}

}  // namespace attnbench
