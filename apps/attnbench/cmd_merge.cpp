// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/option_values.h"
#include "apps/attnbench/output_files.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/result/merge_runs.h"
#include "lib/result/result_reader.h"
#include "lib/scenario/scenario.h"

namespace attnbench {
namespace {

struct MergeOptions {
  std::vector<std::string> files;
  OutputOptions outputs;
  MergeRules rules;
  bool pool = false;
  double precision = MeasureConfig{}.precision;
};

int merge(const MergeOptions& options, Console& console) {
  const std::vector<OutputFile> outputs = checked_outputs(options.outputs, {});
  if (outputs.empty()) {
    throw ConfigError("merge writes a file: -o all.json (or .csv .md .xml .gbench.json)");
  }
  std::vector<NamedRun> runs;
  for (const std::string& path : options.files) runs.push_back({path, read_results(path)});
  MergeRules rules = options.rules;
  if (options.pool) rules.pool_precision = options.precision;
  const RunResult all = merge_runs(std::move(runs), rules);
  if (!write_outputs(all, outputs, console).complete)
    return static_cast<int>(ExitCode::kEnvironment);
  if (!use_standard_output(outputs)) {
    console.out << fmt::format("{} file{} · {} scenario{} · {} cell{}{}\n", options.files.size(),
                               options.files.size() == 1 ? "" : "s", all.scenarios.size(),
                               all.scenarios.size() == 1 ? "" : "s", all.records.size(),
                               all.records.size() == 1 ? "" : "s",
                               all.interrupted ? " · some were not reached" : "");
  }
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_merge_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<MergeOptions>();
  CLI::App* merge_app = app.add_subcommand(
      "merge",
      "Join results of one sweep: shards, or runs of different backends.\n\n"
      "  attnbench merge part1.json part2.json -o all.json\n"
      "  attnbench merge old.json again.json --duplicates last -o all.json -o all.md\n"
      "  attnbench merge 1.json 2.json 3.json … --pool -o all.json -o all.md\n");
  merge_app->add_option("files", options->files, "JSON results, or journals of runs cut off")
      ->required();
  const std::map<std::string, DuplicateWinner> winners{{"first", DuplicateWinner::kFirst},
                                                       {"last", DuplicateWinner::kLast}};
  CLI::Option* duplicates =
      merge_app
          ->add_option("--duplicates", options->rules.winner,
                       "where several files measured a cell: whose result counts")
          ->option_text("first|last")
          ->transform(words_of(winners));
  CLI::Option* pool = merge_app->add_flag(
      "--pool", options->pool,
      "the files are runs of one program: the figure of a cell becomes the median of theirs, with "
      "an interval over these runs, which needs six of them");
  pool->excludes(duplicates);
  merge_app
      ->add_option(
          "--precision", options->precision,
          "a pooled cell has converged when the half-width of its interval is at most this "
          "part of the median; 0.5% if not given")
      ->needs(pool)
      ->transform(fraction("precision"))
      ->type_name("FRACTION");
  merge_app->add_flag("--mixed-machines", options->rules.mixed_machines,
                      "join results of different machines; a record names its device");
  merge_app->add_flag("--mixed-binaries", options->rules.mixed_binaries,
                      "join results of different builds of attnbench");
  add_output_options(*merge_app, options->outputs);
  merge_app->callback([options, &action] {
    action = [options](const KnownBackends&, Console& console) { return merge(*options, console); };
  });
}

}  // namespace attnbench
