// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/named_values.h"
#include "apps/attnbench/option_values.h"
#include "apps/attnbench/plugins.h"
#include "apps/judge/judge_candidate.h"
#include "apps/judge/judge_serve.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/base/this_process.h"
#include "lib/summary/judgement_text.h"

namespace attnbench {
namespace {

/// A step of a kernel of quickstart's size takes milliseconds; its import may take long.
constexpr double kStepS = 30;
constexpr const char* kPluginTimeout = "--plugin-timeout";

/// What a child may need beyond its limit to end all that it has started.
constexpr double kToEndS = 10;

/// The options of all candidates as they were given, for the processes that judge them.
std::vector<std::string> options_of_processes(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_lnames().empty() || option->get_items_expected_max() == 0) continue;
    for (const std::string& result : option->results()) {
      words.insert(words.end(), {"--" + option->get_lnames().front(), result});
    }
  }
  return words;
}

int serve(const JudgeOptions& options, std::vector<std::string> words, const KnownBackends& known,
          Console& console) {
  const std::string& plugins = known.plugins_of_environment();
  if (!plugins.empty()) setenv(kPluginsVariable, plugins.c_str(), 1);
  if (std::ranges::find(words, kPluginTimeout) == words.end()) {
    words.insert(words.end(),
                 {kPluginTimeout, fmt::format("{}", *options.run.execution.timeout_s)});
  }
  const std::chrono::duration<double> limit(options.limit_s + kToEndS);
  serve_judgements({.options = std::move(words),
                    .limit = std::chrono::duration_cast<std::chrono::milliseconds>(limit)},
                   std::cin, console);
  return static_cast<int>(ExitCode::kOk);
}

/// A process of --serve ends with it.
void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) throw EnvironmentError("the process that serves has ended");
}

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
    bool serve = false;
    pid_t parent = 0;
  };
  auto given = std::make_shared<Given>();
  CLI::App* command = app.add_subcommand(
      "judge",
      "Give one verdict and one score for a kernel in a file: accepted, incorrect, cheating "
      "suspected, crashed or inconclusive. It runs beside other backends on every case of a "
      "scenario.\n\n"
      "  attnbench judge mine.py scenarios/quickstart.yaml\n"
      "  attnbench judge mine.so scenarios/quickstart.yaml --against cpu_flash --json -\n"
      "  attnbench judge --serve < lines_of_json\n\n"
      "The score says how many times as fast as --against it is: the geometric mean over the "
      "cases. "
      "Exit codes: 0 accepted, 2 incorrect, crashed or cheating suspected, 3 inconclusive.\n");
  JudgeOptions& options = given->options;
  command->add_option("candidate", options.candidate, "a .so or .py file with backends");
  command->add_option("scenario", given->scenario, kScenarioHelp);
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
  command->add_flag("--serve", given->serve,
                    "judge a candidate for each line of standard input, "
                    "{\"candidate\": FILE, \"scenario\": FILE}, and answer with a line of JSON; "
                    "against, backend and id may be in it. Each has a process of its own");
  command->add_option("--parent", given->parent)->group("");  // these two: of --serve's processes
  command->add_option("--scratch", options.scratch)->group("");
  options.run.cache = {CacheState::kCold, CacheState::kServing};
  options.run.launch = {LaunchMode::kEager, LaunchMode::kGraph};
  declare_mode_options(*command, options.run);
  options.run.execution.timeout_s = kStepS;
  command
      ->add_option("--timeout", options.run.execution.timeout_s,
                   "most time for one step of the candidate, such as one visit of samples, and "
                   "with --serve to load its file; it has crashed then")
      ->transform(seconds("timeout"))
      ->type_name("TIME")
      ->default_str(fmt::format("{}s", kStepS));
  command
      ->add_option("--limit", options.limit_s,
                   "most time for all of it; the verdict is inconclusive then")
      ->transform(seconds("limit"))
      ->type_name("TIME")
      ->default_str(fmt::format("{}s", options.limit_s));
  command->callback([given, command, &action] {
    const bool named = !given->options.candidate.empty() || !given->scenario.empty();
    if (given->serve) {
      if (named) throw CLI::ValidationError("--serve reads candidates from standard input");
      std::vector<std::string> words = options_of_processes(*command);
      action = [given, words](const KnownBackends& known, Console& console) {
        return serve(given->options, words, known, console);
      };
      return;
    }
    if (given->scenario.empty()) throw CLI::RequiredError(named ? "scenario" : "candidate");
    action = [given](const KnownBackends& known, Console& console) {
      if (given->parent != 0) die_with(given->parent);
      given->options.run.scenarios = {given->scenario};
      return judge(given->options, !given->json.empty(), known, console);
    };
  });
}

}  // namespace attnbench
