// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "lib/bench/record.h"

namespace attnbench {

/// Widest line of the narrow table.
inline constexpr std::size_t kTerminalWidth = 100;

struct TerminalColumn {
  enum class Align { kLeft, kRight };
  std::string title;
  std::size_t gap = 2;  ///< spaces before it
  std::size_t width = 0;
  Align align = Align::kRight;
  std::function<std::string(const Record&)> text;
  bool is_verdict = false;
  int dispensable = 0;  ///< in a narrow terminal the highest goes first; 0 stays
};

/// Columns of the table, with units that suit the ceilings: a machine that reads terabytes per
/// second gets TB/s, in every row. `gpu`: one takes part. Unless all of them are asked for by
/// `wide`, as many as `width` has room for.
[[nodiscard]] std::vector<TerminalColumn> terminal_columns(const Ceilings& ceilings, bool gpu,
                                                           bool wide,
                                                           std::size_t width = kTerminalWidth);

}  // namespace attnbench
