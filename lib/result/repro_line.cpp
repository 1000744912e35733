// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/repro_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "lib/base/shell_text.h"
#include "lib/isolate/child_process.h"
#include "lib/session/aa_pairs.h"

namespace attnbench {
namespace {

std::string option(std::string_view name, std::string_view value) {
  return fmt::format(" {} {}", name, shell_quoted(value));
}

}  // namespace

std::string repro_line(const Scenario& scenario, const Record& record,
                       const Registry::Entry& entry) {
  const ScenarioCommand& command = scenario.command;
  std::string line = shell_quoted(command.program) + " run " +
                     shell_quoted(command.file.empty() ? scenario.path : command.file);
  line += option("--case", record.case_id);
  line += option("--backend", registered_name(record.backend));
  const bool in_the_file =
      std::ranges::find(scenario.backends, entry.plugin) != scenario.backends.end();
  if (!entry.plugin.empty() && !in_the_file) line += option("--plugin", entry.plugin);
  const bool python = !entry.host.empty() && entry.host.front() != ChildProcess::kThisProgram;
  if (python) line += option("--python", entry.host.front());
  // Cache state and seed are always spelled, since the file and the command line can both set them.
  line += option("--cache", to_string(record.cache));
  const bool eager_alone = scenario.measure.launch == std::vector{LaunchMode::kEager};
  if (record.launch != LaunchMode::kEager || !eager_alone) {
    line += option("--launch", to_string(record.launch));
  }
  if (scenario.measure.step != std::vector{StepPart::kAttention}) {
    line += option("--step", to_string(record.step));
  }
  line += fmt::format(" --seed {}", scenario.seed);
  if (scenario.sample_nonce != 0) line += fmt::format(" --sample-nonce {}", scenario.sample_nonce);
  if (scenario.measure.aa) line += " --aa";
  if (record.graph_forced) line += " --force-graph";
  if (!scenario.verify.enabled) line += " --no-verify";
  for (const std::string& word : command.options) line += ' ' + shell_quoted(word);
  if (entry.host.empty()) return line;
  for (const std::string& word : command.hosted_options) line += ' ' + shell_quoted(word);
  return line;
}

}  // namespace attnbench
