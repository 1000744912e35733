// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/result/record.h"
#include "lib/summary/terminal_columns.h"

namespace attnbench {

// What an A/A run (--aa) found, for people.

/// The time of the second of an A/A pair over the first's.
struct AaRow {
  std::string case_id, backend, cache;
  std::string ratio;    ///< "+0.12 %"
  std::string range;    ///< "-0.30 … +0.41 %", or "–" where there is no interval
  std::string largest;  ///< of a single round: "2.10 %"
  std::string pairs;
};
/// Empty for a run without A/A pairs.
[[nodiscard]] std::vector<AaRow> aa_rows(const RunResult& run);

/// "floor 0.41 %: …": what a difference must exceed to be one.
[[nodiscard]] std::string aa_floor_text(const RunResult& run);

/// The section that stands below the tables on a terminal; empty for a run without A/A pairs.
[[nodiscard]] std::string aa_terminal_section(const RunResult& run,
                                              std::size_t width = kTerminalWidth);
/// The same as a Markdown table.
[[nodiscard]] std::string aa_markdown_section(const RunResult& run);

}  // namespace attnbench
