// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>

#include "lib/gate/compare.h"
#include "lib/gate/speed.h"
#include "lib/view/json.h"

namespace attnbench {

struct GateTerminalOptions {
  bool colour = false;
  std::size_t width = 100;
  std::optional<int> exit_code{};  ///< of the process, where the report decides it
  std::string next_step{};         ///< a command line, shown where there are suspects
};

/// What changed, a row a cell, and a closing line with the count of everything else.
void write_gate_terminal(const GateReport& report, const GateTerminalOptions& options,
                         std::ostream& out);
/// For a pull request: what changed, sorted by harm, with lines that repeat each cell. No name can
/// become markup, a mention or a link.
void write_gate_markdown(const GateReport& report, std::ostream& out);
/// One testcase a cell; `strict` turns what is not known to be good into failures.
void write_gate_junit(const GateReport& report, bool strict, std::ostream& out);
/// A GitHub workflow command a harmful cell: ::error for what fails, ::warning for what may.
void write_gate_github(const GateReport& report, std::ostream& out);
/// Every cell with its verdict; `attnbench ab --only-suspects` reads it.
void write_gate_json(const GateReport& report, int exit_code, std::ostream& out);

/// Both times, their ratio and the clock's; cycles_ratio is null where a clock is not known, pairs
/// where there were none.
[[nodiscard]] Json speed_json(const SpeedEvidence& speed);

/// A cell as write_gate_json() has it; speed is null where a side has no time.
[[nodiscard]] Json comparison_json(const Comparison& each);

}  // namespace attnbench
