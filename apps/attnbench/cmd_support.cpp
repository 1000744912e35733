// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/option_values.h"
#include "apps/attnbench/plugins.h"
#include "apps/attnbench/scenario_files.h"
#include "lib/base/exit_code.h"
#include "lib/bench/backend_choice.h"
#include "lib/bench/driver.h"
#include "lib/report/expand_report.h"
#include "lib/session/isolate/isolated_executor.h"

namespace attnbench {
namespace {

struct SupportOptions {
  std::string scenario;
  RunFilter filter;
  std::optional<std::uint64_t> seed;
  std::string format = "table";
};

/// The backends that are named, otherwise all except variants: a variant supports the same cases as
/// its base.
std::vector<const Registry::Entry*> asked_about(const Scenario& scenario, const Registry& registry,
                                                const RunFilter& filter) {
  if (!filter.backends.empty() || !scenario.backends.empty()) {
    return choose_backends(scenario, registry, filter);
  }
  std::vector<const Registry::Entry*> backends;
  for (const Registry::Entry& entry : registry.entries()) {
    if (entry.info.by_default) backends.push_back(&entry);
  }
  return backends;
}

}  // namespace

void add_support_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<SupportOptions>();
  CLI::App* support = app.add_subcommand(
      "support",
      "Print the matrix case x backend: OK, or UNSUPPORTED with the reason. Runs nothing.\n\n"
      "  attnbench support scenarios/mla.yaml\n"
      "  attnbench support scenarios/quickstart.yaml --case 'spec*'\n");
  support->add_option("scenario", options->scenario, kScenarioHelp)->required();
  support->add_option("--case", options->filter.cases, "only these case ids; * and ? match")
      ->allow_extra_args(false);
  support
      ->add_option("--backend", options->filter.backends,
                   "only these backends; the scenario's, if it names any, otherwise all")
      ->option_text("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  support->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  add_seed_option(*support, options->seed);
  support->callback([options, &action] {
    action = [options](const KnownBackends& known, Console& console) {
      const Scenario scenario = read_scenario(options->scenario, options->seed);
      const Registry registry = known.with_those_of(scenario);
      const auto backends = asked_about(scenario, registry, options->filter);
      std::vector<const Registry::Entry*> here = backends;
      std::erase_if(here, [](const Registry::Entry* entry) { return !entry->host.empty(); });
      const Devices devices = open_devices(here, {});
      IsolatedExecutor hosts(scenario, {});
      const SupportQuestion question{scenario, select_cases(scenario, options->filter), backends,
                                     devices, hosts};
      (options->format == "json" ? write_support_json : write_support_table)(question, console.out);
      return static_cast<int>(ExitCode::kOk);
    };
  });
}

}  // namespace attnbench
