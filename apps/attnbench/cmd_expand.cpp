// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "apps/attnbench/command.h"
#include "lib/base/exit_code.h"
#include "lib/bench/driver.h"
#include "lib/report/expand_report.h"

namespace attnbench {
namespace {

struct ExpandOptions {
  std::string scenario;
  RunFilter filter;
  std::optional<std::uint64_t> seed;
  std::string format = "table";
};

}  // namespace

void add_expand_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExpandOptions>();
  CLI::App* expand = app.add_subcommand(
      "expand",
      "Print what a scenario means - requests, pages, index arrays, bytes, FLOPs - without running "
      "it.\n\n"
      "  attnbench expand scenarios/quickstart.yaml\n"
      "  attnbench expand scenarios/quickstart.yaml --case 'mla*' --format json\n");
  expand->add_option("scenario", options->scenario, "scenario file")->required();
  expand->add_option("--case", options->filter.cases, "only these case ids; * and ? match");
  expand->add_option("--seed", options->seed, "overrides the scenario's seed");
  expand->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  expand->callback([options, &action] {
    action = [options](const Registry&, Console& console) {
      const Scenario scenario = load_scenario(options->scenario, options->seed);
      const auto cases = select_cases(scenario, options->filter);
      (options->format == "json" ? write_expand_json : write_expand_table)(scenario, cases,
                                                                           console.out);
      return static_cast<int>(ExitCode::kOk);
    };
  });
}

}  // namespace attnbench
