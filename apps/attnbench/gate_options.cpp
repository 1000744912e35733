// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/gate_options.h"

#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <ostream>

#include "apps/attnbench/option_values.h"
#include "apps/attnbench/output_files.h"
#include "lib/base/error.h"
#include "lib/config/word_hints.h"
#include "lib/gate/gate_sinks.h"
#include "lib/result/result_file.h"
#include "lib/summary/terminal_columns.h"

namespace attnbench {
namespace {

/// GitHub Actions names this file; Markdown that is appended shows on the page of the run.
constexpr const char* kStepSummary = "GITHUB_STEP_SUMMARY";

struct GateFile {
  const char* option;
  std::string path;
};

std::vector<GateFile> files_of(const GateOptions& options) {
  std::vector<GateFile> files = {
      {"--markdown", options.markdown}, {"--junit", options.junit}, {"--json", options.json}};
  std::erase_if(files, [](const GateFile& file) { return file.path.empty(); });
  return files;
}

void append_step_summary(const GateReport& report) {
  const char* const path = std::getenv(kStepSummary);
  if (path == nullptr || *path == '\0') return;
  std::ofstream file(path, std::ios::app | std::ios::binary);
  write_gate_markdown(report, file);
  file << '\n';
  file.close();
  if (!file) throw EnvironmentError(fmt::format("cannot write {} ({})", path, kStepSummary));
}

}  // namespace

void declare_limit_options(CLI::App& app, GateOptions& options) {
  app.add_option("--policy", options.policy,
                 "limits and allowances by case, backend and mix (gate.yaml)")
      ->option_text("FILE")
      ->check(not_empty());
  app.add_option("--min-roofline", options.min_roofline,
                 "a cell below this part of its roofline has regressed: 70% or 0.7")
      ->transform(fraction("min-roofline"))
      ->type_name("FRACTION");
  app.add_option("--allow", options.allow,
                 fmt::format("compare although this differs: {}; the report says so",
                             fmt::join(kConditions, ", ")))
      ->option_text("CONDITION,...")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void declare_gate_options(CLI::App& app, GateOptions& options) {
  declare_limit_options(app, options);
  app.add_flag("--dump-policy", options.dump_policy,
               "print the policy with its defaults as YAML, and do nothing else");
  app.add_flag("--gate,--strict", options.strict,
               "exit 3 unless every cell is known to be good: for suspect, inconclusive, missing "
               "and skipped ones and those without a verdict");
  app.add_option("--markdown", options.markdown, "write Markdown for a pull request")
      ->check(not_empty());
  app.add_option("--junit", options.junit, "write JUnit XML, one testcase per cell")
      ->check(not_empty());
  app.add_option("--json", options.json, "write every cell with its verdict as JSON")
      ->check(not_empty());
  app.add_flag("--github", options.github,
               "print annotations for GitHub Actions and append to $GITHUB_STEP_SUMMARY");
}

Policy policy_of(const GateOptions& options) {
  Policy policy = options.policy.empty() ? Policy{} : read_policy(options.policy);
  if (options.min_roofline) policy.limits.roofline = options.min_roofline;
  return policy;
}

Waivers waivers_of(const GateOptions& options) {
  for (const std::string& word : options.allow) {
    if (std::ranges::find(kConditions, word) != std::end(kConditions)) continue;
    throw ConfigError(
        {Diagnostic{{},
                    1,
                    fmt::format("--allow: no condition '{}'", word),
                    allowed_words_hint(std::span<const std::string_view>(kConditions), word),
                    {}}});
  }
  return {options.allow.begin(), options.allow.end()};
}

void check_gate_outputs(const GateOptions& options, const std::vector<std::string>& inputs) {
  const std::vector<GateFile> files = files_of(options);
  for (auto file = files.begin(); file != files.end(); ++file) {
    const auto same = [&](const std::string& path) { return same_file(path, file->path); };
    for (auto other = files.begin(); other != file; ++other) {
      if (same(other->path)) {
        throw ConfigError(fmt::format("{} {} and {} {} would write the same file", other->option,
                                      other->path, file->option, file->path));
      }
    }
    if (file->path == "-") continue;
    if (std::ranges::any_of(inputs, same)) {
      throw ConfigError(
          fmt::format("{} {} would overwrite what is read", file->option, file->path));
    }
    expect_writable(file->path);
  }
}

int publish(const GateReport& report, const GateOptions& options, const std::string& next_step,
            int signal, Console& console) {
  const ExitCode verdict = exit_code_of(report, options.strict);
  // A wrong result is one, however few pairs there are.
  const bool stopped = signal != 0 && verdict != ExitCode::kIncorrect;
  const int exit_code = stopped ? 128 + signal : static_cast<int>(verdict);
  const auto write = [&](const std::string& path, const auto& writer) {
    if (!path.empty()) write_result_file(path, console.out, writer);
  };
  write(options.markdown, [&](std::ostream& out) { write_gate_markdown(report, out); });
  write(options.junit, [&](std::ostream& out) { write_gate_junit(report, options.strict, out); });
  write(options.json, [&](std::ostream& out) { write_gate_json(report, exit_code, out); });
  // A file on standard output has it for itself.
  const bool taken =
      std::ranges::any_of(files_of(options), [](const GateFile& file) { return file.path == "-"; });
  const auto [out, look] = plain_output(taken, console);
  write_gate_terminal(
      report,
      {.colour = look.colour, .width = look.width, .exit_code = exit_code, .next_step = next_step},
      out);
  if (options.github) {
    write_gate_github(report, out);
    append_step_summary(report);
  }
  if (verdict == ExitCode::kUsage && !stopped) {
    console.err << kNothingMatched;
  }
  return exit_code;
}

PlainOutput plain_output(bool taken, Console& console) {
  const bool escapes = taken ? console.err_takes_escapes : console.out_takes_escapes;
  const auto& width = taken ? console.err_width : console.out_width;
  const std::size_t columns = width ? width() : 0;
  return {taken ? console.err : console.out,
          {.colour = escapes && !std::getenv("NO_COLOR"),
           .width = columns > 0 ? columns : kTerminalWidth}};
}

std::chrono::year_month_day today_utc() {
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
}

}  // namespace attnbench
