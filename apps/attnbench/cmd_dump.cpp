// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/named_values.h"
#include "apps/attnbench/option_values.h"
#include "apps/attnbench/plugins.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/inspect/case_dump.h"
#include "lib/run/run_plan.h"
#include "lib/scenario/case.h"
#include "lib/session/devices.h"

namespace attnbench {
namespace {

struct DumpOptions {
  std::string scenario;
  std::vector<std::string> cases;
  std::vector<std::string> backends;
  std::string directory;
  std::string fill = "timing";
  std::optional<std::uint64_t> seed;
  std::int64_t rows = 512;
  bool force = false;
  DeviceOptions devices;
  CpuTargetOption cpu_target;
};

const Case& the_one_case(const Scenario& scenario, const DumpOptions& options) {
  const std::vector<const Case*> cases = select_cases(scenario, {.cases = options.cases});
  if (cases.size() == 1) {
    refuse_composed(*cases.front(), "dump");
    return *cases.front();
  }
  std::string ids;
  for (const Case* c : cases) ids += "\n   --case '" + c->id + "'";
  throw ConfigError(
      fmt::format("dump writes one case, {} match; choose one:{}", cases.size(), ids));
}

int dump(const DumpOptions& options, const KnownBackends& known, Console& console) {
  const Scenario scenario = read_scenario(options.scenario, options.seed);
  const Case& c = the_one_case(scenario, options);
  const Registry registry = known.with_those_of(scenario, options.backends);
  const auto entries = choose_backends(scenario, registry, {.backends = options.backends});
  const Devices devices = open_devices(entries, options.devices);
  const Fill fill =
      *std::ranges::find(kFills, options.fill, [](Fill each) { return to_string(each); });
  const bool complete = dump_case_with_outputs({.scenario = scenario,
                                                .c = c,
                                                .fill = fill,
                                                .rows = options.rows,
                                                .entries = entries,
                                                .devices = devices,
                                                .folder = options.directory,
                                                .replace = options.force},
                                               console.err);
  console.out << fmt::format("{}: written to {}/case.json\n", c.id, options.directory);
  return static_cast<int>(complete ? ExitCode::kOk : ExitCode::kIncorrect);
}

}  // namespace

void add_dump_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<DumpOptions>();
  CLI::App* dump_app = app.add_subcommand(
      "dump",
      "Write one case as .npy files - Q, K, V, pools, index arrays, masks, every backend's O and "
      "LSE, reference rows - with a case.json, so that it can be recomputed without attnbench.\n\n"
      "  attnbench dump scenarios/quickstart.yaml --case mla -o mla\n"
      "  attnbench dump scenarios/quickstart.yaml --case spec_tree --fill needle -o tree\n");
  dump_app->add_option("scenario", options->scenario, kScenarioHelp)->required();
  add_case_option(*dump_app, options->cases, "the case id; * and ? match");
  dump_app->add_option("-o,--output", options->directory, "folder to write")
      ->required()
      ->check(not_empty());
  dump_app->add_flag("--force", options->force,
                     "replace the dump that the folder holds; a used folder is refused otherwise");
  add_backend_option(*dump_app, options->backends, "outputs of these backends only");
  dump_app->add_option("--fill", options->fill, "data set")
      ->check(CLI::IsMember({"needle", "tag", "sparse_int", "extreme", "normal", "timing"}))
      ->capture_default_str();
  dump_app->add_option("--rows", options->rows, "about this many reference rows")
      ->transform(whole_number("rows", 1, std::int64_t{1} << 40))
      ->type_name("N")
      ->capture_default_str();
  add_seed_option(*dump_app, options->seed);
  add_threads_option(*dump_app, options->devices.threads);
  options->cpu_target.add_to(*dump_app);
  dump_app->callback([options, &action] {
    action = [options](const KnownBackends& known, Console& console) {
      options->devices.cpu_target = options->cpu_target.target();
      return dump(*options, known, console);
    };
  });
}

}  // namespace attnbench
