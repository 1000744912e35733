// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <future>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/gate_options.h"
#include "apps/attnbench/option_values.h"
#include "lib/base/error.h"
#include "lib/base/shell_text.h"
#include "lib/gate/baseline.h"
#include "lib/gate/compare.h"
#include "lib/result/result_reader.h"

namespace attnbench {
namespace {

struct CompareCommand {
  std::vector<std::string> results;
  std::string base_backend, new_backend, baselines;
  bool trust_sequential = false;
  GateOptions gate;
};

bool of_two_backends(const CompareCommand& command) {
  const bool one = command.base_backend.empty(), other = command.new_backend.empty();
  if (one != other) throw ConfigError("--base and --new come together: two backends of one file");
  const bool kept = !command.baselines.empty();
  if (kept && !one) throw ConfigError("--baseline compares two runs, --base and --new one run");
  const std::size_t wanted = one && !kept ? 2 : 1;
  if (command.results.size() == wanted) return !one;
  if (kept) {
    throw ConfigError(
        fmt::format("with --baseline, compare takes one result, the new one; found {}",
                    command.results.size()));
  }
  throw ConfigError(
      one ? fmt::format("compare takes two results, base and new, found {}; or one, with the "
                        "backends --base NAME --new NAME",
                        command.results.size())
          : fmt::format("--base and --new compare two backends of one file, found {} files",
                        command.results.size()));
}

/// The line that confirms suspects; what a result does not tell is left to fill in.
std::string confirmation(const GateReport& report, const CompareCommand& command) {
  std::vector<std::string> files;
  for (const ScenarioSource& source : report.scenarios) files.push_back(shell_quoted(source.path));
  return fmt::format("attnbench ab --base BASE_PROGRAM --new NEW_PROGRAM {}{}",
                     fmt::join(files, " "),
                     command.gate.json.empty() || command.gate.json == "-"
                         ? ""
                         : " --only-suspects " + shell_quoted(command.gate.json));
}

int compare(const CompareCommand& command, Console& console) {
  CompareOptions options{.policy = policy_of(command.gate),
                         .waivers = waivers_of(command.gate),
                         .trust_sequential = command.trust_sequential,
                         .today = today_utc()};
  if (command.gate.dump_policy) {
    console.out << policy_text(options.policy);
    return 0;
  }
  const bool backends = of_two_backends(command);
  check_gate_outputs(command.gate, command.results);
  // Reading takes most of the time, and files are read apart from each other.
  std::future<RunResult> other;
  if (!backends && command.baselines.empty()) {
    other = std::async(std::launch::async, [&] { return read_results(command.results[1]); });
  }
  const RunResult first = read_results(command.results[0]);
  GateReport report;
  if (backends) {
    report = compare_backends(first, command.base_backend, command.new_backend, options);
  } else if (!command.baselines.empty()) {
    report = compare_runs(read_baselines(command.baselines, first), first, options);
    report.base = command.baselines;
    report.now = command.results[0];
  } else {
    report = compare_runs(first, other.get(), options);
    report.base = command.results[0];
    report.now = command.results[1];
  }
  return publish(report, command.gate, backends ? "" : confirmation(report, command), 0, console);
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  auto command = std::make_shared<CompareCommand>();
  CLI::App* compare_app = app.add_subcommand(
      "compare",
      "Compare two results, cell by cell: what is wrong, slower, missing, new or not comparable. "
      "Two runs, one after the other, cannot prove a change of time: a cell that looks slower is a "
      "SUSPECT, which `attnbench ab` can confirm; --trust-sequential lets two runs decide.\n\n"
      "  attnbench compare main.json branch.json --gate --policy gate.yaml\n"
      "  attnbench compare new.json --baseline results/baselines --gate\n"
      "  attnbench compare r.json --base paged_fa --new splitkv\n");
  compare_app->add_option("results", command->results,
                          "JSON of `attnbench run --json`: base and new; or one, with --base and "
                          "--new");
  compare_app
      ->add_option("--base", command->base_backend,
                   "a backend of the one result; or with a star several, 'v22/*'")
      ->option_text("NAME");
  compare_app->add_option("--new", command->new_backend, "the backend to compare with it; 'v33/*'")
      ->option_text("NAME");
  compare_app
      ->add_option("--baseline", command->baselines,
                   "a folder of baselines: the base is what it has for the machine and the "
                   "scenarios of the new result")
      ->option_text("FOLDER")
      ->check(not_empty());
  compare_app->add_flag("--trust-sequential", command->trust_sequential,
                        "let two runs on one machine decide: REGRESSED instead of SUSPECT");
  declare_gate_options(*compare_app, command->gate);
  compare_app->callback([command, &action] {
    action = [command](const KnownBackends&, Console& console) {
      return compare(*command, console);
    };
  });
}

}  // namespace attnbench
