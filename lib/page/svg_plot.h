// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace attnbench {

/// One mark; lo and hi are the interval of y, both y where there is none.
struct PlotPoint {
  double x = 0, y = 0, lo = 0, hi = 0;
};

/// Points of one colour and one mark.
struct PlotSeries {
  std::string name;
  std::vector<std::vector<PlotPoint>> curves;  ///< the points of each are joined, by x
  std::size_t style = 0;                       ///< number of its colour and mark
  bool hollow = false;                         ///< marks, and dashed lines
};

struct PlotAxis {
  std::string title;
  bool binary = false;  ///< ticks at powers of two
  std::function<std::string(double)> text;
};

/// A plot with two logarithmic axes.
struct SvgPlot {
  std::string title;
  PlotAxis x, y;
  std::vector<PlotSeries> series;
  /// Drawn behind the points; y over the whole width of the plot.
  std::vector<std::function<double(double)>> lines;
  std::vector<double> line_bends;  ///< x where a line has a corner, which the axes show
};

/// 720 x 440 pixels on white, without scripts, fonts or anything else to fetch. Names may hold
/// anything. Needs one point at least.
void write_svg(const SvgPlot& plot, std::ostream& out);

}  // namespace attnbench
