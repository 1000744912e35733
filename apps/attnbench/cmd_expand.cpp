// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/named_values.h"
#include "apps/attnbench/option_values.h"
#include "apps/attnbench/plugins.h"
#include "lib/base/exit_code.h"
#include "lib/inspect/expand_report.h"
#include "lib/run/run_plan.h"

namespace attnbench {
namespace {

struct ExpandOptions {
  std::string scenario;
  RunFilter filter;
  std::optional<std::uint64_t> seed;
  std::string format = "table";
  std::set<int> indices;  ///< places in index_formats()
};

void declare_indices(CLI::App& app, ExpandOptions& options) {
  std::map<std::string, int> words;
  std::vector<std::string_view> names;
  for (const IndexFormat& format : index_formats()) {
    names.push_back(format.name);
    words.emplace(format.name, static_cast<int>(words.size()));
  }
  app.add_option("--indices", options.indices,
                 fmt::format("also the index arrays that kernels read, in these formats: {}",
                             fmt::join(names, " ")))
      ->type_name("FORMAT")
      ->option_text("FORMAT,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(words_of(words));
}

}  // namespace

void add_expand_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExpandOptions>();
  CLI::App* expand = app.add_subcommand(
      "expand",
      "Print what a scenario means - requests, pages, index arrays, bytes, FLOPs - without running "
      "it.\n\n"
      "  attnbench expand scenarios/quickstart.yaml\n"
      "  attnbench expand scenarios/quickstart.yaml --case 'mla*' --format json\n"
      "  attnbench expand scenarios/quickstart.yaml --case mla --indices flashmla,block_table\n");
  expand->add_option("scenario", options->scenario, kScenarioHelp)->required();
  add_case_option(*expand, options->filter.cases);
  add_seed_option(*expand, options->seed);
  add_format_option(*expand, options->format);
  declare_indices(*expand, *options);
  expand->callback([options, &action] {
    action = [options](const KnownBackends& known, Console& console) {
      const Scenario scenario = read_scenario(options->scenario, options->seed);
      static_cast<void>(
          choose_backends(scenario, known.with_those_of(scenario), {}));  // unknown names throw
      const auto cases = select_cases(scenario, options->filter);
      std::vector<const IndexFormat*> formats;
      for (const int place : options->indices) {
        formats.push_back(&index_formats()[static_cast<std::size_t>(place)]);
      }
      (options->format == "json" ? write_expand_json : write_expand_table)(scenario, cases,
                                                                           console.out, formats);
      return static_cast<int>(ExitCode::kOk);
    };
  });
}

}  // namespace attnbench
