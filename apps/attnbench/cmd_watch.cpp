// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/gate_options.h"
#include "apps/attnbench/option_values.h"
#include "lib/gate/watch.h"
#include "lib/result/result_file.h"
#include "lib/result/result_reader.h"

namespace attnbench {
namespace {

struct WatchCommand {
  std::vector<std::string> results;
  WatchOptions options;
  GateOptions outputs;  ///< of which only --json is offered
};

int watch(const WatchCommand& command, Console& console) {
  static_cast<void>(metric_field(command.options.metric));  // before files are read, which may last
  check_gate_outputs(command.outputs, command.results);
  std::vector<ResultFile> files;
  for (const std::string& path : command.results) files.push_back({path, read_results(path)});
  const WatchReport report = watch_runs(std::move(files), command.options);
  const std::string& json = command.outputs.json;
  if (!json.empty()) {
    write_result_file(json, console.out, [&](std::ostream& out) { write_watch_json(report, out); });
  }
  const PlainOutput plain = plain_output(json == "-", console);
  write_watch_terminal(report, plain.options, plain.out);
  return 0;
}

}  // namespace

void add_watch_command(CLI::App& app, Action& action) {
  auto command = std::make_shared<WatchCommand>();
  CLI::App* watch_app = app.add_subcommand(
      "watch",
      "Follow a figure of each cell over the results of many commits, and name the commits that "
      "changed it. Runs of another machine, scenario, seed or options are kept apart.\n\n"
      "  attnbench watch nightly/*.json\n"
      "  attnbench watch nightly/*.json --metric gb_per_s --backend splitkv --case 'decode/*'\n");
  watch_app->add_option("results", command->results, "JSON of `attnbench run --json`, a file a run")
      ->required();
  watch_app
      ->add_option(
          "--metric", command->options.metric,
          "any measured number, by the name of its column in the CSV; median_us if not given")
      ->option_text("COLUMN");
  add_case_option(*watch_app, command->options.cases,
                  "only these case ids; * and ? match; repeatable");
  add_backend_option(*watch_app, command->options.backends, "only these backends; * and ? match");
  watch_app->add_option("--json", command->outputs.json, "write every value and change as JSON")
      ->check(not_empty());
  watch_app->callback([command, &action] {
    action = [command](const KnownBackends&, Console& console) { return watch(*command, console); };
  });
}

}  // namespace attnbench
