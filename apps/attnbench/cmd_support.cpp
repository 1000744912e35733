// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/named_values.h"
#include "apps/attnbench/option_values.h"
#include "apps/attnbench/plugins.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/inspect/engine_support.h"
#include "lib/inspect/expand_report.h"
#include "lib/isolate/isolated_executor.h"
#include "lib/run/run_plan.h"

namespace attnbench {
namespace {

struct SupportOptions {
  std::string scenario;
  RunFilter filter;
  std::optional<std::uint64_t> seed;
  std::string format = "table";
  bool engines = false;
  std::string arch;  ///< with `engines`; empty: this machine's GPU
  std::vector<std::string> engine_versions;
};

/// The GPU of this machine; sm90 where there is none, or one that engines' rules do not know.
EngineDevice engine_device_here(const Registry& registry) {
  std::vector<const Registry::Entry*> present;
  for (const Registry::Entry& entry : registry.entries()) {
    if (entry.absence.empty() && entry.host.empty()) present.push_back(&entry);
  }
  for (const auto& device : open_devices(present, {})) {
    const EngineDevice* known = find_engine_device(device->info().arch);
    if (device->info().kind == DeviceKind::kCuda && known != nullptr) return *known;
  }
  return engine_device_named("sm90");
}

void answer_for_engines(const SupportOptions& options, const Registry& registry,
                        const Scenario& scenario, std::ostream& out) {
  const EngineDevice device =
      options.arch.empty() ? engine_device_here(registry) : engine_device_named(options.arch);
  EngineSetup asked;
  for (const std::string& version : options.engine_versions) set_engine_version(version, asked);
  const EngineSupportQuestion question{scenario, select_cases(scenario, options.filter), device,
                                       asked.version};
  (options.format == "json" ? write_engine_support_json : write_engine_support_table)(question,
                                                                                      out);
}

/// The backends that are named, otherwise all that attend except variants: a variant supports the
/// same cases as its base.
std::vector<const Registry::Entry*> asked_about(const Scenario& scenario, const Registry& registry,
                                                const RunFilter& filter) {
  if (!filter.backends.empty() || !scenario.backends.empty()) {
    return choose_backends(scenario, registry, filter);
  }
  std::vector<const Registry::Entry*> backends;
  for (const Registry::Entry& entry : registry.entries()) {
    if (entry.info.by_default && is_for_step(entry.info, StepPart::kAttention)) {
      backends.push_back(&entry);
    }
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
      "  attnbench support scenarios/quickstart.yaml --case 'spec*'\n"
      "  attnbench support scenarios/quickstart.yaml --engines --arch sm90\n");
  support->add_option("scenario", options->scenario, kScenarioHelp)->required();
  add_case_option(*support, options->filter.cases);
  CLI::Option* named =
      add_backend_option(*support, options->filter.backends,
                         "only these backends; the scenario's, if it names any, otherwise all");
  add_format_option(*support, options->format);
  CLI::Option* engines = support->add_flag(
      "--engines", options->engines,
      "ask about the attention backends of SGLang and vLLM, as their documentation has it");
  engines->excludes(named);
  support
      ->add_option("--arch", options->arch,
                   "with --engines: device (default: this machine's GPU, sm90 without one)")
      ->needs(engines)
      ->check(not_empty());
  support
      ->add_option("--engine-version", options->engine_versions,
                   "with --engines: of an engine, 0.22.0 or 0.22 for vLLM's (default: the newest)")
      ->option_text("VERSION")
      ->allow_extra_args(false)
      ->needs(engines);
  add_seed_option(*support, options->seed);
  support->callback([options, &action] {
    action = [options](const KnownBackends& known, Console& console) {
      const Scenario scenario = read_scenario(options->scenario, options->seed);
      const Registry registry = known.with_those_of(scenario, options->filter.backends);
      if (options->engines) {
        answer_for_engines(*options, registry, scenario, console.out);
        return static_cast<int>(ExitCode::kOk);
      }
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
