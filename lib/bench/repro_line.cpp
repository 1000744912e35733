// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string_view>

#include "lib/bench/driver.h"
#include "lib/bench/twins.h"

namespace attnbench {
namespace {

/// A word as a POSIX shell reads it back.
std::string shell_quoted(std::string_view word) {
  static constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string option(std::string_view name, std::string_view value) {
  return fmt::format(" {} {}", name, shell_quoted(value));
}

}  // namespace

std::string repro_line(const Scenario& scenario, const Record& record, const std::string& plugin) {
  const ScenarioCommand& command = scenario.command;
  std::string line = shell_quoted(command.program) + " run " +
                     shell_quoted(command.file.empty() ? scenario.path : command.file);
  line += option("--case", record.case_id);
  line += option("--backend", registered_name(record.backend));
  if (!plugin.empty()) line += option("--plugin", plugin);
  // Cache state and seed are always spelled, since the file and the command line can both set them.
  line += option("--cache", to_string(record.cache));
  const bool eager_alone = scenario.measure.launch == std::vector{LaunchMode::kEager};
  if (record.launch != LaunchMode::kEager || !eager_alone) {
    line += option("--launch", to_string(record.launch));
  }
  line += fmt::format(" --seed {}", scenario.seed);
  if (scenario.measure.aa) line += " --aa";
  if (record.graph_forced) line += " --force-graph";
  if (!scenario.verify.enabled) line += " --no-verify";
  for (const std::string& word : command.options) line += ' ' + shell_quoted(word);
  return line;
}

}  // namespace attnbench
