// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lib/result/record.h"

namespace attnbench {

/// What a run says of one tuning parameter: that of a backend, whose values are variants
/// ("splitkv:splits=16"), the page size of the cache, which a sweep sets, or which backends compute
/// prompts and decodes, where a pair of them ran. Cells are compared where they differ in this
/// parameter alone.
struct TuningSummary {
  std::string parameter;  ///< "splitkv:splits", "splitkv page_size", "prefill+decode"
  std::size_t values = 0;
  std::string best;     ///< the value with the least geometric mean among those of most cells
  double geomean = 0;   ///< of its times over those of the fastest value
  std::string flag;     ///< that sets it in an engine; empty: there is none
  std::string as_good;  ///< further values that tie for the fastest in every cell, "8, 32"
  bool open = false;    ///< some interval is missing or wider than asked for
  /// A cell where another value is faster, the intervals apart.
  struct Exception {
    std::string cell, value;
    double ratio;  ///< the best's time over that value's
  };
  std::vector<Exception> exceptions;
};

/// One for each parameter of which two values claim a speed, in the order of the records.
[[nodiscard]] std::vector<TuningSummary> tuning_summaries(const RunResult& run);

/// The same in lines, "" where there is nothing to say. Lines have at most `width` columns.
[[nodiscard]] std::string tuning_terminal_section(const RunResult& run, std::size_t width);
[[nodiscard]] std::string tuning_markdown_section(const RunResult& run);

}  // namespace attnbench
