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

/// Points that are joined, by x.
struct PlotCurve {
  std::vector<PlotPoint> points;
  std::size_t kind = 0;  ///< of SvgPlot::kinds
};

/// Curves of one colour and one mark.
struct PlotSeries {
  std::string name;
  std::vector<PlotCurve> curves;
  std::size_t style = 0;  ///< number of its colour and mark
  bool hollow = false;    ///< marks, and dashed lines where their kind does not say which
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
  /// What tells the curves of a series apart, in the legend: each kind has dashes and a number of
  /// its own, which stands at the right end of its curves. Not shown where there is only one.
  std::vector<std::string> kinds;
  /// Drawn behind the points; y over the whole width of the plot.
  std::vector<std::function<double(double)>> lines;
  std::vector<double> line_bends;  ///< x where a line has a corner, which the axes show
};

/// 720 x 440 pixels, or higher where the legend has many lines, on white, without scripts, fonts or
/// anything else to fetch. Names may hold anything. Needs one point at least.
void write_svg(const SvgPlot& plot, std::ostream& out);

/// The picture at twice its size in pixels, as a PNG file's bytes. Starts `rsvg-convert` (Debian's
/// librsvg2-bin); throws EnvironmentError, naming the package, where there is none or it fails.
[[nodiscard]] std::string png_of_svg(const std::string& svg);

}  // namespace attnbench
