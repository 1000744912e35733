// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/attnbench/command.h"
#include "lib/gate/compare.h"
#include "lib/gate/gate_text.h"

namespace attnbench {

/// What `compare` and `ab` share: limits, and where the report goes.
struct GateOptions {
  std::string policy;  ///< gate.yaml; empty: the default policy
  std::optional<double> min_roofline;
  std::vector<std::string> allow;  ///< conditions that may differ
  bool strict = false, github = false, dump_policy = false;
  std::string markdown, junit, json;  ///< files; "-" is standard output
};

/// What a comparison is judged by: policy, least part of the roofline, conditions that may differ.
void declare_limit_options(CLI::App& app, GateOptions& options);

/// The same, and where the verdicts go.
void declare_gate_options(CLI::App& app, GateOptions& options);

/// Throws ConfigError with the mistakes of the file.
[[nodiscard]] Policy policy_of(const GateOptions& options);

/// Throws ConfigError with the nearest condition of one that does not exist.
[[nodiscard]] Waivers waivers_of(const GateOptions& options);

/// Throws ConfigError when an output would overwrite one of `inputs` or another output, and
/// EnvironmentError when one cannot be written: before anything is measured.
void check_gate_outputs(const GateOptions& options, const std::vector<std::string>& inputs);

/// What exit code 4 of a comparison means.
inline constexpr std::string_view kNothingMatched =
    "error: nothing matched: no cell ran in both results\n";

/// Writes the report to all its places and returns the exit code. `next_step` is shown where there
/// are suspects. `signal`: that ended the measuring; 0: none.
[[nodiscard]] int publish(const GateReport& report, const GateOptions& options,
                          const std::string& next_step, int signal, Console& console);

/// Where a report for people goes, and how it may look there.
struct PlainOutput {
  std::ostream& out;
  TextOptions options;
};
/// `taken`: standard output belongs to a file, so people read standard error. Colours are for
/// terminals, unless NO_COLOR is set.
[[nodiscard]] PlainOutput plain_output(bool taken, Console& console);

[[nodiscard]] std::chrono::year_month_day today_utc();

}  // namespace attnbench
