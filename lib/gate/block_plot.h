// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace attnbench {

/// A value over an axis, in whatever scale the plot is to have: for a logarithmic one, logarithms.
struct PlotPoint {
  double x = 0, y = 0;
  double lo = y, hi = y;  ///< an interval around it
};

/// A sign on the horizontal axis, one column wide.
struct PlotMark {
  double x = 0;
  std::string sign;
};

/// A plot on a terminal: points in half blocks, two to the height of a line.
struct BlockPlot {
  std::vector<PlotPoint> points;
  std::vector<PlotMark> marks;  ///< where two meet, the later one shows
  std::optional<double> level;  ///< a dotted line across
  std::function<std::string(double y)> label;
  std::string from, to;            ///< what the two ends of the horizontal axis are
  std::size_t most_columns = 100;  ///< between the ends: a few points stand close to each other
};

/// Lines of at most `width` columns, each with its line break; empty without points.
[[nodiscard]] std::string block_plot(const BlockPlot& plot, std::size_t width);

}  // namespace attnbench
