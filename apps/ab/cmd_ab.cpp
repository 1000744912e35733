// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/ab/ab_package.h"
#include "apps/ab/ab_pairs.h"
#include "apps/attnbench/command.h"
#include "apps/attnbench/gate_options.h"
#include "apps/attnbench/named_values.h"
#include "apps/attnbench/option_values.h"
#include "apps/attnbench/plugins.h"
#include "apps/attnbench/run_options.h"
#include "lib/backend/python_environment.h"
#include "lib/base/error.h"
#include "lib/base/system.h"
#include "lib/base/this_process.h"
#include "lib/gate/ab.h"
#include "lib/gate/ab_process.h"

namespace attnbench {
namespace {

struct AbCommand {
  AbPrograms programs;
  PackageOptions package;
  std::string only_suspects;
  int pairs = AbConfig().pairs;
  double process_timeout_s = 3600;  ///< long for a process that runs each cell once
  std::uint64_t coin = 0;
  RunOptions run;  ///< which both programs are given as they stand
  std::vector<std::string> plugins;
  std::vector<std::string> python;
  std::string plugin_timeout;  ///< as it was given
  GateOptions gate;
};

/// A name without a slash is one of a folder of $PATH.
bool can_be_started(const std::string& program) {
  if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0;
  return std::ranges::any_of(environment_list("PATH"), [&](const std::string& folder) {
    return access((folder + '/' + program).c_str(), X_OK) == 0;
  });
}

void expect_program(const char* option, const std::string& program) {
  if (can_be_started(program)) return;
  throw ConfigError(fmt::format("{} {}: no program that can be started", option, program));
}

/// Where two interpreters are compared, both sides are this program.
void take_interpreters(AbPrograms& programs, const std::string& this_program) {
  if (programs.base_python.empty() && programs.new_python.empty()) return;
  if (programs.base_python.empty() || programs.new_python.empty()) {
    throw ConfigError(
        "--base-python and --new-python come together: one program, two interpreters");
  }
  for (std::string* const word : {&programs.base_python, &programs.new_python}) {
    const PythonEnvironment environment = python_environment(*word);
    if (!can_be_started(environment.python)) {
      throw EnvironmentError(fmt::format("--{}-python: {} cannot be run",
                                         word == &programs.new_python ? "new" : "base",
                                         environment.python));
    }
    *word = to_string(environment);
  }
  programs.base = programs.now = this_program;
}

/// Adds the plug-ins to what both programs are asked. Those that the environment names stay there:
/// a program may be a script that names others.
void add_plugins(AbCommand& command, const KnownBackends& known) {
  std::vector<std::string>& words = command.programs.options;
  for (const std::string& plugin : command.plugins) {
    words.insert(words.end(), {"--plugin", plugin});
  }
  for (const std::string& python : command.python) {
    words.insert(words.end(), {"--python", python});
  }
  if (!command.plugin_timeout.empty()) {
    words.insert(words.end(), {"--plugin-timeout", command.plugin_timeout});
  }
  const std::string& of_environment = known.plugins_of_environment();
  if (!of_environment.empty()) setenv(kPluginsVariable, of_environment.c_str(), 1);
}

/// The interpreter that has what the package's versions need.
std::string base_interpreter(const std::vector<std::string>& words) {
  const std::vector<PythonEnvironment> environments = environments_of(words);
  if (environments.size() == 1) return environments.front().python;
  throw ConfigError(
      "--package takes one --python: its versions are installed beside what that has");
}

int ab(AbCommand command, const KnownBackends& known, Console& console) {
  AbConfig config;
  config.pairs = command.pairs;
  config.seed = command.coin;
  config.compare = {
      .policy = policy_of(command.gate), .waivers = waivers_of(command.gate), .today = today_utc()};
  if (command.gate.dump_policy) {
    console.out << policy_text(config.compare.policy);
    return 0;
  }
  const bool of_package = !command.package.source.package.empty();
  if (of_package) {
    command.package.source.python = base_interpreter(std::exchange(command.python, {}));
    command.programs.base = command.programs.now = console.program;
  }
  take_interpreters(command.programs, console.program);
  if (command.programs.base.empty() || command.programs.now.empty() ||
      command.programs.scenarios.empty()) {
    throw ConfigError(
        "ab takes --base PROGRAM, --new PROGRAM and a scenario, or --base-python and --new-python, "
        "or --package and --versions");
  }
  expect_program("--base", command.programs.base);
  expect_program("--new", command.programs.now);
  for (std::string& scenario : command.programs.scenarios) {
    if (scenario == kStandardInput) {
      throw ConfigError("ab starts many processes, which cannot all read standard input");
    }
    scenario = find_scenario(scenario);
  }
  check_gate_outputs(command.gate, command.programs.scenarios);
  Screen screen;
  if (!command.only_suspects.empty()) {
    screen = read_screen(command.only_suspects);
    config.cells = screen.open;
    if (config.cells.empty()) {
      console.out << "no suspects in " << command.only_suspects << ": nothing to confirm\n";
      if (screen.gone.empty() || !command.gate.strict) return 0;
      console.out << screen.gone.size() << " of its cells did not run, which pairs cannot mend\n";
      return static_cast<int>(ExitCode::kInconclusive);
    }
  }
  add_plugins(command, known);
  const std::chrono::duration<double> limit(command.process_timeout_s);
  if (of_package) {
    return ab_package(command.package, command.programs, config, limit, command.gate, console);
  }
  catch_interrupts();

  GateReport report = measured_pairs(command.programs, config, limit, "", console);
  // What did not run stays in the report: confirming the others does not bring it back.
  std::ranges::move(screen.gone, std::back_inserter(report.cells));
  sort_by_harm(report);
  const bool of_interpreters = !command.programs.base_python.empty();
  report.base = of_interpreters ? command.programs.base_python : command.programs.base;
  report.now = of_interpreters ? command.programs.new_python : command.programs.now;
  return publish(report, command.gate, "", interrupt_signal(), console);
}

/// Behind all other options, some of which are of one comparison.
void declare_package_options(CLI::App& app, PackageOptions& options) {
  CLI::Option* const package =
      app.add_option("--package", options.source.package,
                     "which version of this package, as pip calls it, changed each cell: by "
                     "bisection between the two of --versions. Each is installed, without what it "
                     "requires, beside what --python has, and kept in the cache folder")
          ->option_text("NAME")
          ->check(not_empty());
  CLI::Option* const versions =
      app.add_option("--versions", options.range,
                     "the first and the last version. A change that a version between takes back "
                     "is not looked for, and of several changes of a cell one is named")
          ->option_text("FIRST..LAST")
          ->check(not_empty())
          ->needs(package);
  package->needs(versions);
  app.add_flag("--pre", options.source.with_pre_releases, "versions: also those before a release")
      ->needs(package);
  for (const char* const other : {"--base", "--new", "--base-python", "--new-python",
                                  "--only-suspects", "--markdown", "--junit", "--github"}) {
    package->excludes(app.get_option(other));
  }
}

}  // namespace

void add_ab_command(CLI::App& app, Action& action) {
  auto command = std::make_shared<AbCommand>();
  CLI::App* ab_app = app.add_subcommand(
      "ab",
      "Decide whether a new program, or a new version of packages, is slower: pairs of fresh "
      "processes of both, in random order. Ctrl-C keeps what is known.\n\n"
      "  attnbench ab --base main/attnbench --new branch/attnbench scenarios/quickstart.yaml\n"
      "  attnbench ab --base main/attnbench --new branch/attnbench s.yaml --only-suspects "
      "gate.json\n"
      "  attnbench ab --base-python old/bin/python --new-python new/bin/python --plugin packs/vllm "
      "s.yaml\n"
      "  attnbench ab --package flashinfer-python --versions 0.6.9..0.7.2 --plugin "
      "packs/flashinfer "
      "s.yaml\n");
  ab_app->add_option("scenario", command->programs.scenarios, kScenarioHelp);
  CLI::Option* const base =
      ab_app->add_option("--base", command->programs.base, "the program as it was")
          ->option_text("PROGRAM")
          ->check(not_empty());
  CLI::Option* const now =
      ab_app->add_option("--new", command->programs.now, "the program to judge")
          ->option_text("PROGRAM")
          ->check(not_empty());
  CLI::Option* const python =
      ab_app->add_option("--python", command->python, "as in run: interpreter of .py plug-ins")
          ->option_text("[NAME=]PROGRAM")
          ->allow_extra_args(false);
  for (auto& [name, word, help] :
       {std::tuple("--base-python", &command->programs.base_python,
                   "in place of two programs: this one, with the packages of this interpreter"),
        std::tuple("--new-python", &command->programs.new_python,
                   "and with the packages of this one, which are judged")}) {
    ab_app->add_option(name, *word, help)
        ->option_text("[NAME=]PROGRAM")
        ->check(not_empty())
        ->excludes(base, now, python);
  }
  ab_app->add_option("--pairs", command->pairs, "pairs of processes; 8 is the fewest that decide")
      ->transform(whole_number("pairs", 8, 100'000))
      ->capture_default_str();
  ab_app
      ->add_option("--process-timeout", command->process_timeout_s,
                   "a process that takes longer hangs: it is killed, counts as crashed, and no "
                   "further pair is begun: 90s, 30min")
      ->transform(seconds("process-timeout"))
      ->type_name("TIME")
      ->default_str("60min");
  ab_app->add_option("--coin", command->coin, "seed of the order within the pairs")
      ->transform(whole_number("coin", 0, 2147483647));
  ab_app
      ->add_option("--only-suspects", command->only_suspects,
                   "only what `attnbench compare --json` left open; options that choose cells are "
                   "then left to that report")
      ->option_text("REPORT")
      ->check(not_empty());
  ab_app->add_option("--plugin", command->plugins, "as in run: a file with backends; repeatable")
      ->option_text("FILE")
      ->allow_extra_args(false);
  ab_app
      ->add_option("--plugin-timeout", command->plugin_timeout,
                   "as in run: how long a file of --plugin may take to say which backends it has")
      ->transform(seconds("plugin-timeout"))
      ->option_text("TIME");
  declare_options_for_processes(*ab_app, command->run);
  declare_gate_options(*ab_app, command->gate);
  declare_package_options(*ab_app, command->package);
  ab_app->callback([command, ab_app, &action] {
    ProcessWords words = words_for_processes(*ab_app);
    command->programs.options = std::move(words.options);
    command->programs.filters = std::move(words.filters);
    action = [command](const KnownBackends& known, Console& console) {
      return ab(*command, known, console);
    };
  });
}

}  // namespace attnbench
