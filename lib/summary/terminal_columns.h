// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "lib/result/ranking.h"
#include "lib/result/record.h"

namespace attnbench {

/// Of a line, where nothing says how wide the terminal is.
inline constexpr std::size_t kTerminalWidth = 100;
/// All that the narrow table has to show: a wider terminal gets no longer lines.
inline constexpr std::size_t kMostTerminalWidth = 120;

/// Of the column of backends' names, which is wider where a name that is shown is longer, up to the
/// second figure.
inline constexpr std::size_t kNameWidth = 15;
inline constexpr std::size_t kMostNameWidth = 28;

struct TerminalColumn {
  enum class Align { kLeft, kRight };
  enum class Subject { kFigure, kRanking, kVerdict, kRankingOrVerdict };
  std::string title;
  std::size_t gap = 2;  ///< spaces before it
  std::size_t width = 0;
  Align align = Align::kRight;
  std::function<std::string(const Record&, const Ranking&)> text;
  Subject subject = Subject::kFigure;  ///< decides its colour
  int dispensable = 0;                 ///< in a narrow terminal the highest goes first; 0 stays
  std::string legend = {};             ///< what the header says of it; empty: the title says all
};

/// Columns of the table, with units that suit the ceilings: a machine that reads terabytes per
/// second gets TB/s, in every row. `gpu`: one takes part. Unless all of them are asked for by
/// `wide`, as many as `width` has room for; `several_modes`: rows of a case differ in cache or
/// launch.
[[nodiscard]] std::vector<TerminalColumn> terminal_columns(const Ceilings& ceilings, bool gpu,
                                                           bool wide,
                                                           std::size_t width = kTerminalWidth,
                                                           std::size_t name_width = kNameWidth,
                                                           bool several_modes = true);

/// What the columns hold, as far as their titles do not say it.
[[nodiscard]] std::string column_legends(const std::vector<TerminalColumn>& columns);

}  // namespace attnbench
