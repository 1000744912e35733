// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/gate_options.h"
#include "apps/attnbench/option_values.h"
#include "lib/base/error.h"
#include "lib/gate/baseline.h"
#include "lib/gate/compare.h"
#include "lib/gate/gate_sinks.h"
#include "lib/gate/gate_text.h"
#include "lib/result/result_file.h"
#include "lib/result/result_reader.h"
#include "lib/result/sinks.h"
#include "lib/summary/terminal.h"

namespace attnbench {
namespace {

struct BaselineCommand {
  std::string folder = "results/baselines";
  std::vector<std::string> results;
  std::string reason;
  bool dry_run = false;
};

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw EnvironmentError(fmt::format("{}: {}", folder.string(), error.message()));
}

/// What replacing the baseline changes, on the terminal. Returns it in one line.
std::string show_change(const std::string& path, const RunResult& now, Console& console) {
  if (!std::filesystem::exists(path)) {
    const auto open = std::ranges::count_if(now.records, [](const Record& record) {
      return record.claims_speed() && record.timing.hi_us <= 0;
    });
    const std::string change = fmt::format(
        "new, {} cells{}", now.records.size(),
        open > 0 ? fmt::format(", {} without an interval, which decide nothing", open) : "");
    console.out << path << ": " << change << '\n';
    return change;
  }
  // What looks slower is shown as what it would be: the old baseline goes.
  CompareOptions options{.trust_sequential = true, .today = today_utc()};
  for (const std::string_view condition : kConditions) options.waivers.emplace(condition);
  GateReport report = compare_runs(read_results(path), now, options);
  report.base = path;
  report.now = "the new baseline";
  const std::size_t columns = console.out_width ? console.out_width() : 0;
  write_gate_terminal(report,
                      {.colour = console.out_takes_escapes && !std::getenv("NO_COLOR"),
                       .width = columns > 0 ? columns : kTerminalWidth},
                      console.out);
  return fmt::format("{}", fmt::join(summary_parts(report), ", "));
}

/// One line of history.md, so that a reader of the folder sees why a baseline moved.
void note_update(const std::filesystem::path& folder, const RunResult& now,
                 const std::string& reason, const std::string& change) {
  const std::filesystem::path path = folder / "history.md";
  std::ofstream file(path, std::ios::app);
  file << fmt::format("- {} {} ({}, attnbench {}): {}\n", now.environment.started_utc.substr(0, 10),
                      now.scenarios.front().name, change, now.environment.git_sha, reason);
  file.flush();
  if (!file) throw EnvironmentError(fmt::format("cannot write {}", path.string()));
}

int update(const BaselineCommand& command, Console& console) {
  if (command.reason.find_first_not_of(" \t") == std::string::npos) {
    throw ConfigError("--reason: say in a few words why the baseline changes");
  }
  std::vector<RunResult> runs;
  for (const std::string& path : command.results) {
    runs.push_back(read_results(path));
    try {
      expect_fit_for_a_baseline(runs.back());
    } catch (const ConfigError& error) {
      throw ConfigError(fmt::format("{}: {}", path, error.diagnostics().front().message));
    }
  }
  for (const RunResult& run : runs) {
    for (const ScenarioSource& scenario : run.scenarios) {
      const RunResult part = part_of(run, scenario);
      const std::string path = baseline_path(command.folder, run, scenario.name);
      const std::string change = show_change(path, part, console);
      if (command.dry_run) continue;
      const std::filesystem::path folder = std::filesystem::path(path).parent_path();
      make_folder(folder);
      write_result_file(path, console.out, [&](std::ostream& out) { write_json(part, out); });
      note_update(folder, part, plain_line(command.reason), change);
    }
  }
  console.out << (command.dry_run ? "nothing was written: --dry-run\n"
                                  : fmt::format("written to {}\n", command.folder));
  return static_cast<int>(ExitCode::kOk);
}

std::string age_text(const RunResult& run) {
  const auto days = age_in_days(run, today_utc());
  return days ? fmt::format("{} days old", *days) : "of an unknown day";
}

int list(const BaselineCommand& command, Console& console) {
  for (const KeptBaseline& each : list_baselines(command.folder)) {
    const Environment& environment = each.run.environment;
    console.out << plain_line(fmt::format("{}  {} cells, {}, attnbench {}, {}", each.path,
                                          each.run.records.size(), age_text(each.run),
                                          environment.git_sha, environment.device.name))
                << '\n';
  }
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_baseline_command(CLI::App& app, Action& action) {
  CLI::App* const baseline = app.add_subcommand(
      "baseline",
      "Results that later ones are compared with, a file for each machine and scenario.\n\n"
      "  attnbench baseline update new.json --reason 'the merge kernel is fused'\n"
      "  attnbench compare new.json --baseline results/baselines\n");
  baseline->require_subcommand(1);
  auto command = std::make_shared<BaselineCommand>();
  const auto add = [&](const char* name, const char* help,
                       int (*act)(const BaselineCommand&, Console&)) {
    CLI::App* const sub = baseline->add_subcommand(name, help);
    sub->add_option("--folder", command->folder, "of the baselines")
        ->option_text("FOLDER")
        ->check(not_empty())
        ->capture_default_str();
    sub->callback([command, act, &action] {
      action = [command, act](const KnownBackends&, Console& console) {
        return act(*command, console);
      };
    });
    return sub;
  };
  add("list", "What there is: machine, scenario, age, commit", list);
  CLI::App* const update_app =
      add("update", "Show what a result changes, then make it the baseline of its machine", update);
  update_app->add_option("results", command->results, "JSON of `attnbench run --json`")->required();
  update_app->add_option("--reason", command->reason, "why; history.md keeps it")
      ->option_text("TEXT")
      ->required();
  update_app->add_flag("--dry-run", command->dry_run, "show, and write nothing");
}

}  // namespace attnbench
