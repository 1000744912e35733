// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lib/result/record.h"
#include "lib/view/table.h"

namespace attnbench {

/// How one backend did in a whole run.
struct BackendSummary {
  std::string backend;
  int ran = 0;      ///< cells that were tried
  int fastest = 0;  ///< of these the fastest correct ones of their case, ties among them
  int failed = 0;   ///< INCORRECT, CRASHED or IMPOSSIBLE
  int noisy = 0;    ///< with a figure whose interval is wider than asked for, or none
  /// Geometric mean of the times over the fastest's, of cells where another backend has a Ranking,
  /// too; 0: there are none, or it failed in one.
  double geomean = 0;
};

/// One for each backend that was tried, in the order of pair_order(); those without a mean stand
/// below it, those that failed last. Empty unless there are two backends and two cases to compare.
[[nodiscard]] std::vector<BackendSummary> backend_summaries(const RunResult& run);

/// The same as a table whose lines have at most `width` columns.
[[nodiscard]] Section summary_section(const RunResult& run, std::size_t width = std::string::npos);

}  // namespace attnbench
