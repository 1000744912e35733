// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lib/gate/compare.h"

namespace attnbench {

/// How a report for people may look.
struct TextOptions {
  bool colour = false;      ///< escape sequences
  std::size_t width = 100;  ///< of a line
};

// What the gate's sinks say about a comparison, in one wording.

/// `text`, which may come from a file, as one line that no terminal and no CI runner takes for a
/// command: printable(), without line breaks, words that begin with "::", and "##[".
[[nodiscard]] std::string plain_line(std::string_view text);

/// "+6.2 %" of a ratio of 1.062.
[[nodiscard]] std::string change_text(double ratio);
/// "(+5.9 … +6.5 %)".
[[nodiscard]] std::string interval_text(const RatioInterval& ratio);
/// "500 µs → 531 µs"; empty without two times.
[[nodiscard]] std::string times_text(const Comparison& comparison);
/// "cold", "cold/g", "cold kv_write".
[[nodiscard]] std::string mode_text(const CellKey& cell);
/// Whether cells of a report have different scenarios.
[[nodiscard]] bool has_several_scenarios(const GateReport& report);
/// The case's id, behind its scenario where the report has several.
[[nodiscard]] std::string case_text(const CellKey& cell, bool with_scenario);
/// "REGRESSED", "INCONCLUSIVE(clock)".
[[nodiscard]] std::string verdict_text(const Comparison& comparison);
/// Why, and what excuses it; may be empty.
[[nodiscard]] std::string why_text(const Comparison& comparison);

/// Cells that a text for people lists; a report for machines has them all.
inline constexpr std::size_t kMostListed = 1000;
/// Columns of a name in it.
inline constexpr std::size_t kWidestName = 40;
/// Whether a report lists the cell; the others it counts.
[[nodiscard]] bool is_listed(const Comparison& comparison);
/// Whether it is, or may be, a fault that weighs on the exit code.
[[nodiscard]] bool is_harm(const Comparison& comparison);

/// "1 regressed", "36 the same within 0.8 %", "1 new", "0 missing" …, the worst first.
[[nodiscard]] std::vector<std::string> summary_parts(const GateReport& report);

}  // namespace attnbench
