// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/bench/record.h"

namespace attnbench {

// What the sinks for people say about a record, in one wording.

/// "case/backend/cache/launch": unique in a run.
[[nodiscard]] std::string cell_name(const Record& record);
/// The verdict's word, or "IMPOSSIBLE" for a cell that beats the machine.
[[nodiscard]] std::string verdict_word(const Record& record);
/// A row that needs a repro line: wrong, crashed or impossible.
[[nodiscard]] bool is_failed_row(const Record& record);
/// Three letters: r repeatable, p page-permutation invariant, b batch invariant; '-' where it is
/// not, '.' where it was not tested.
[[nodiscard]] std::string bitwise_flags(const Record& record);
/// "0.21" or, when nothing was compared, "".
[[nodiscard]] std::string error_text(const Record& record);

/// Counts for a closing line: "9 cells · 5 passed, 1 INCORRECT, 3 unsupported · 2 not converged".
[[nodiscard]] std::string tally_text(const RunResult& run);

}  // namespace attnbench
