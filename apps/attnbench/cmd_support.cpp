// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/attnbench/command.h"
#include "lib/base/exit_code.h"
#include "lib/bench/driver.h"
#include "lib/report/expand_report.h"

namespace attnbench {
namespace {

struct SupportOptions {
  std::string scenario;
  RunFilter filter;
  std::optional<std::uint64_t> seed;
};

}  // namespace

void add_support_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<SupportOptions>();
  CLI::App* support = app.add_subcommand(
      "support",
      "Print the matrix case x backend: OK, or UNSUPPORTED with the reason. Runs nothing.\n\n"
      "  attnbench support scenarios/mla.yaml\n"
      "  attnbench support scenarios/quickstart.yaml --case 'spec*'\n");
  support->add_option("scenario", options->scenario, "scenario file")->required();
  support->add_option("--case", options->filter.cases, "only these case ids; * and ? match");
  support->add_option("--seed", options->seed, "overrides the scenario's seed");
  support->callback([options, &action] {
    action = [options](const Registry& registry, Console& console) {
      const Scenario scenario = load_scenario(options->scenario, options->seed);
      std::vector<const Registry::Entry*> backends;
      for (const Registry::Entry& entry : registry.entries()) backends.push_back(&entry);
      const Devices devices = open_devices(backends, {});
      write_support_table(scenario, select_cases(scenario, options->filter), registry, devices,
                          console.out);
      return static_cast<int>(ExitCode::kOk);
    };
  });
}

}  // namespace attnbench
