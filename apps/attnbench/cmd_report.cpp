// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/gate_options.h"
#include "apps/attnbench/option_values.h"
#include "apps/attnbench/output_files.h"
#include "apps/attnbench/result_file.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/gate/compare.h"
#include "lib/page/page.h"
#include "lib/report/result_reader.h"

namespace attnbench {
namespace {

struct ReportCommand {
  std::vector<std::string> results;
  std::string output;
  std::string base_backend, new_backend;
  bool trust_sequential = false;
  GateOptions gate;
};

/// Two backends of one file, or base and new file.
bool compares(const ReportCommand& command) {
  const bool base = !command.base_backend.empty(), now = !command.new_backend.empty();
  if (base != now) throw ConfigError("--base and --new come together: two backends of one file");
  if (base && command.results.size() != 1) {
    throw ConfigError(
        fmt::format("--base and --new compare two backends of one file, found {} files",
                    command.results.size()));
  }
  if (base || command.results.size() == 2) return true;
  const GateOptions& gate = command.gate;
  if (command.trust_sequential || !gate.policy.empty() || gate.min_roofline ||
      !gate.allow.empty()) {
    throw ConfigError(
        "--policy, --min-roofline, --allow and --trust-sequential judge a comparison: give two "
        "files, or one with --base NAME --new NAME");
  }
  return false;
}

GateReport comparison_of(const std::vector<NamedRun>& files, const ReportCommand& command) {
  const CompareOptions options{.policy = policy_of(command.gate),
                               .waivers = waivers_of(command.gate),
                               .trust_sequential = command.trust_sequential,
                               .today = today_utc()};
  if (files.size() == 1) {
    return compare_backends(files[0].run, command.base_backend, command.new_backend, options);
  }
  GateReport report = compare_runs(files[0].run, files[1].run, options);
  const std::vector<std::string> labels = file_labels(files);
  report.base = labels[0];
  report.now = labels[1];
  return report;
}

int report(const ReportCommand& command, Console& console) {
  const bool comparison = compares(command);
  if (command.output != "-") {
    for (const std::string& path : command.results) {
      if (!same_file(path, command.output)) continue;
      throw ConfigError(fmt::format("-o {} would overwrite what is read", command.output));
    }
    expect_writable(command.output);
  }
  PageContent content;
  for (const std::string& path : command.results)
    content.files.push_back({path, read_results(path)});
  if (comparison) content.comparison = comparison_of(content.files, command);
  write_result_file(command.output, console.out,
                    [&](std::ostream& out) { write_page(content, out); });
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_report_command(CLI::App& app, Action& action) {
  auto command = std::make_shared<ReportCommand>();
  CLI::App* report_app = app.add_subcommand(
      "report",
      "Write results as one HTML page that needs nothing else: roofline, latency by length, a "
      "table "
      "that sorts and filters, errors, support, environment. Of two files, or two backends of one, "
      "it has the verdicts of `attnbench compare`.\n\n"
      "  attnbench report r.json -o report.html\n"
      "  attnbench report main.json branch.json -o report.html\n"
      "  attnbench report r.json --base paged_fa --new splitkv -o report.html\n");
  report_app
      ->add_option("results", command->results,
                   "JSON of `attnbench run --json`, or journals; two are base and new")
      ->required();
  report_app->add_option("-o,--output", command->output, "the page; '-' = standard output")
      ->required()
      ->option_text("FILE")
      ->check(not_empty());
  report_app->add_option("--base", command->base_backend, "a backend of the one result")
      ->option_text("NAME");
  report_app->add_option("--new", command->new_backend, "the backend to compare with it")
      ->option_text("NAME");
  report_app->add_flag("--trust-sequential", command->trust_sequential,
                       "let two runs on one machine decide: REGRESSED instead of SUSPECT");
  declare_limit_options(*report_app, command->gate);
  report_app->callback([command, &action] {
    action = [command](const KnownBackends&, Console& console) {
      return report(*command, console);
    };
  });
}

}  // namespace attnbench
