// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "lib/result/record.h"
#include "lib/summary/terminal_columns.h"
#include "lib/view/table.h"

namespace attnbench {

/// What an A/A run (--aa) found: for each pair the time of the second over the first's, then the
/// floor that a difference must exceed to be one. Empty for a run without A/A pairs.
[[nodiscard]] Section aa_report(const RunResult& run, std::size_t width = kTerminalWidth);

}  // namespace attnbench
