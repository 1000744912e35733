// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/option_values.h"
#include "apps/attnbench/plugins.h"
#include "apps/attnbench/scenario_files.h"
#include "lib/backend/format_choice.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/dump/dump.h"
#include "lib/run/driver.h"
#include "lib/run/run_plan.h"
#include "lib/scenario/case.h"
#include "lib/scenario/problem_of.h"
#include "lib/session/backend_code.h"
#include "lib/session/devices.h"
#include "lib/verify/error_model.h"
#include "reference/oracle.h"

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

/// One line per row: request, token, query head, LSE, then O. Of a recurrent layer the row of the
/// state, or -1, stands in place of the LSE.
NpyArray reference_table(const Case& c, const std::vector<ReferenceRow>& rows) {
  std::vector<double> table;
  for (const ReferenceRow& row : rows) {
    table.insert(table.end(),
                 {static_cast<double>(row.id.request), static_cast<double>(row.id.token),
                  static_cast<double>(row.id.head),
                  c.layer.is_recurrent() ? static_cast<double>(row.id.state_row) : row.lse});
    table.insert(table.end(), row.out.begin(), row.out.end());
  }
  return make_npy(table, {static_cast<std::int64_t>(rows.size()), 4 + c.layer.head_dim_v});
}

/// How far a backend of these numerics may be from each of the rows: LSE, then O.
NpyArray bound_table(const Case& c, const Numerics& numerics,
                     const std::vector<ReferenceRow>& rows) {
  const ErrorModel model(c, numerics);
  std::vector<double> table;
  for (const ReferenceRow& row : rows) {
    const ErrorModel::Row terms = model.row(row);
    table.push_back(terms.lse_bound);
    for (std::size_t d = 0; d < row.out.size(); ++d) {
      table.push_back(model.bound(terms, row.out[d], row.a[d]));
    }
  }
  return make_npy(table, {static_cast<std::int64_t>(rows.size()), 1 + c.layer.head_dim_v});
}

std::vector<std::pair<std::string, std::string>> roundings_of(const Numerics& numerics) {
  std::vector<std::pair<std::string, std::string>> roundings;
  for (const auto& [what, dtype] : {std::pair{"qk_input", numerics.qk_input},
                                    {"p", numerics.p},
                                    {"accumulator", numerics.accumulator},
                                    {"partial_out", numerics.partial_out}}) {
    roundings.emplace_back(what, to_string(dtype));
  }
  roundings.emplace_back("partial_roundings", std::to_string(numerics.partial_roundings));
  return roundings;
}

void dump_outputs(DumpWriter& writer, const Registry::Entry& entry, const Case& scenario_case,
                  Fill fill, const std::vector<ReferenceRow>& rows, const Devices& devices,
                  Console& console) {
  const std::string& name = entry.info.name;
  std::string stem = name;  // of files: "splitkv:splits=16" is a name that not every system takes
  std::ranges::replace(stem, ':', '.');
  std::ranges::replace_if(
      stem, [](char c) { return c == '=' || c == '+'; }, '-');
  const auto skip = [&](const std::string& reason) {
    console.err << fmt::format("{}: no outputs: {}\n", name, reason);
    writer.describe(DumpedBackend{name, entry.info.version, reason, {}});
  };
  if (!entry.make) return skip(entry.absence);
  if (!entry.host.empty()) {
    const bool is_python = entry.plugin.ends_with(".py");
    return skip(fmt::format("it runs in a process of its own, which dump does not start{}",
                            is_python ? "" : "; --in-process loads it into this one"));
  }
  Device& device = *device_for(entry, devices);
  const std::unique_ptr<Backend> backend = entry.make();
  const FormatChoice choice = of_backend([&] {
    return choose_format(*backend, problem_of(scenario_case), scenario_case.kv_cache.layout);
  });
  if (!choice) return skip(fmt::format("UNSUPPORTED({})", choice.support.reason()));
  Case c = scenario_case;
  c.kv_cache.layout = choice.layout;
  const Numerics numerics = of_backend([&] { return backend->numerics(problem_of(c)); });
  writer.describe(DumpedBackend{name, entry.info.version, "", roundings_of(numerics)});
  writer.add("bound_" + stem, bound_table(c, numerics, rows),
             "how far " + name + " may be from each of reference_rows: LSE, O[dv]");
  Fixture fixture(c, device);
  fixture.fill(fill);
  PlanMemory memory(device);
  const std::unique_ptr<Stream> stream = device.make_stream();
  const std::unique_ptr<Plan> plan =
      of_backend([&] { return backend->plan(fixture.batch(), memory); });
  of_backend([&] {
    plan->run(*stream);
    stream->synchronize();
  });
  const AttentionTensors outputs = fixture.host_outputs();
  writer.add("out_" + stem, widened(outputs.out.read_only()),
             "O of " + name + " [tokens, heads, dv]");
  if (c.layer.is_recurrent()) {
    writer.add("states_" + stem, state_array(fixture.host_states()),
               fmt::format("states that {} leaves [{}, value heads, dk, dv]", name,
                           c.mode == ForwardMode::kTargetVerify ? "draft tokens" : "slots"));
    return;
  }
  writer.add("lse_" + stem, widened_2d(outputs.lse.read_only()),
             "LSE of " + name + " [tokens, heads_q]");
}

int dump(const DumpOptions& options, const KnownBackends& known, Console& console) {
  const Scenario scenario = read_scenario(options.scenario, options.seed);
  const Case& c = the_one_case(scenario, options);
  const Registry registry = known.with_those_of(scenario, options.backends);
  const auto entries = choose_backends(scenario, registry, {.backends = options.backends});
  const Devices devices = open_devices(entries, options.devices);
  const Fill fill =
      *std::ranges::find(kFills, options.fill, [](Fill each) { return to_string(each); });
  const Contents contents(c, fill);
  DumpWriter writer(options.directory, options.force);
  const Environment environment = describe_environment(devices.front()->info());
  writer.describe(DumpOrigin{environment.version, environment.git_sha, scenario.path,
                             scenario.sha256, scenario.seed});
  {
    Fixture fixture(c, *devices.front());  // the host's
    fixture.fill(fill);
    dump_case(writer, fixture, contents);
  }
  const std::vector<ReferenceRow> rows =
      reference::evaluate_rows(c, contents, reference::sample_rows(c, options.rows));
  writer.add("reference_rows", reference_table(c, rows),
             c.layer.is_recurrent()
                 ? "float64 reference, one line per row: request, token, value head, row of the "
                   "state or -1, O[dv] or state[dv]"
                 : "float64 reference, one line per row: request, token, head, LSE, O[dv]");
  bool crashed = false;
  for (const Registry::Entry* entry : entries) {
    try {
      dump_outputs(writer, *entry, c, fill, rows, devices, console);
    } catch (const BackendFailed& failed) {
      console.err << fmt::format("{}: no outputs: CRASHED({})\n", entry->info.name, failed.what());
      crashed = true;
    }
  }
  writer.finish();
  console.out << fmt::format("{}: written to {}/case.json\n", c.id, options.directory);
  return static_cast<int>(crashed ? ExitCode::kIncorrect : ExitCode::kOk);
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
