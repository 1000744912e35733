// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/svg_plot.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/shell_text.h"
#include "lib/base/system.h"
#include "lib/page/log_scale.h"
#include "lib/view/units.h"
#include "lib/view/xml_text.h"

namespace attnbench {
namespace {

constexpr double kWidth = 720, kHeight = 440;
constexpr double kLeft = 86, kRight = 700;
constexpr double kBelow = 50;  // the axis and its title
constexpr double kLegendTop = 52, kLegendLine = 20, kCharacter = 7.2;
constexpr double kLegendDashes = 34;  // the line that shows the dashes of a kind
constexpr double kLeastPlot = 250;    // height of the plot below a legend of many lines
constexpr int kSteps = 64;            // of a line over the width

// The colours and marks of the page (template/theme.js).
constexpr std::array<std::string_view, 7> kColours = {"#0072b2", "#d55e00", "#007a5a", "#b0508a",
                                                      "#8a6d00", "#5b4bb7", "#5f6770"};
constexpr std::array<std::string_view, 4> kMarks = {"M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
                                                    "M0,-5L5,4L-5,4z", "M-4,-4h8v8h-8z",
                                                    "M0,-5L5,0L0,5L-5,0z"};

std::string_view colour_of(const PlotSeries& series) {
  return kColours[series.style % kColours.size()];
}

/// A mark of a series at a place.
std::string mark_at(const PlotSeries& series, double x, double y) {
  // Half transparent: where two backends are alike, their marks lie upon each other.
  return fmt::format(
      "<path d=\"{}\" transform=\"translate({:.1f} {:.1f})\" fill=\"{}\" fill-opacity=\"{}\" "
      "stroke=\"{}\"/>\n",
      kMarks[series.style % kMarks.size()], x, y, colour_of(series), series.hollow ? 0 : 0.4,
      colour_of(series));
}

// Of kinds of curves; further ones begin again, and have their number alone.
constexpr std::array<std::string_view, 6> kDashes = {"", "7 3", "2 3", "9 3 2 3", "4 2", "1 5"};

constexpr std::size_t kDashesOfFile = 1;  // of a further file, where they do not say the kind

/// " stroke-dasharray=…" of a kind, "" of a line without gaps.
std::string dashes_of(std::size_t kind) {
  const std::string_view dashes = kDashes[kind % kDashes.size()];
  return dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes);
}

bool tells_kinds_apart(const SvgPlot& plot) { return plot.kinds.size() > 1; }

/// Numbers of kinds begin with 1.
std::string number_of(std::size_t kind) { return std::to_string(kind + 1); }

std::string text_at(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     xml_escaped(text));
}

/// Where the entries of a legend go, line by line.
class LegendPlaces {
 public:
  /// The left end of an entry of this width, on y().
  double next(double width) {
    if (x_ > kLeft && x_ + width > kRight) new_line();
    const double begin = x_;
    x_ += width;
    return begin;
  }
  void new_line() {
    x_ = kLeft;
    y_ += kLegendLine;
  }
  [[nodiscard]] double y() const { return y_; }

 private:
  double x_ = kLeft, y_ = kLegendTop;
};

double text_width(std::string_view text) {
  return kCharacter * static_cast<double>(display_width(text));
}

/// Draws the legend and returns where the plot may begin.
double write_legend(const SvgPlot& plot, std::ostream& out) {
  LegendPlaces places;
  for (const PlotSeries& series : plot.series) {
    const double x = places.next(40 + text_width(series.name));
    out << mark_at(series, x + 5, places.y() - 4)
        << text_at(x + 15, places.y(), "start", series.name);
  }
  if (tells_kinds_apart(plot)) places.new_line();
  for (std::size_t kind = 0; tells_kinds_apart(plot) && kind < plot.kinds.size(); ++kind) {
    const std::string text = number_of(kind) + "  " + plot.kinds[kind];
    const double x = places.next(kLegendDashes + 30 + text_width(text)), y = places.y() - 4;
    out << fmt::format(
               "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
               "stroke=\"#1c2127\" stroke-width=\"1.5\"{}/>\n",
               x, y, x + kLegendDashes, y, dashes_of(kind))
        << text_at(x + kLegendDashes + 6, places.y(), "start", text);
  }
  return places.y() + kLegendLine / 2;
}

class Drawing {
 public:
  Drawing(const SvgPlot& plot, double top, double bottom, std::ostream& out)
      : plot_(plot),
        out_(out),
        top_(top),
        bottom_(bottom),
        x_(xs(plot), kLeft, kRight),
        y_(ys(plot), bottom, top) {}

  void axes() const {
    const auto& [x, y] = std::tie(plot_.x, plot_.y);
    for (const double tick : x.binary ? x_.binary_ticks() : x_.decimal_ticks()) {
      grid_line(x_(tick), top_, x_(tick), bottom_);
      out_ << text_at(x_(tick), bottom_ + 18, "middle", x.text(tick));
    }
    for (const double tick : y.binary ? y_.binary_ticks() : y_.decimal_ticks()) {
      grid_line(kLeft, y_(tick), kRight, y_(tick));
      out_ << text_at(kLeft - 8, y_(tick) + 4, "end", y.text(tick));
    }
    out_ << text_at((kLeft + kRight) / 2, bottom_ + kBelow - 12, "middle", x.title);
    out_ << fmt::format("<g transform=\"translate(16 {:.1f}) rotate(-90)\">{}</g>\n",
                        (top_ + bottom_) / 2, text_at(0, 0, "middle", y.title));
  }

  void lines() const {
    std::vector<double> xs = plot_.line_bends;
    for (int i = 0; i <= kSteps; ++i) {
      xs.push_back(x_.lo() * std::pow(x_.hi() / x_.lo(), static_cast<double>(i) / kSteps));
    }
    std::ranges::sort(xs);
    for (const auto& line : plot_.lines) {
      out_ << "<polyline fill=\"none\" stroke=\"#57606b\" stroke-width=\"1.5\" points=\"";
      for (const double x : xs) out_ << point(x, std::max(line(x), y_.lo()));
      out_ << "\"/>\n";
    }
  }

  void series(const PlotSeries& series) {
    const bool numbered = tells_kinds_apart(plot_);
    for (PlotCurve curve : series.curves) {
      std::vector<PlotPoint>& points = curve.points;
      std::ranges::stable_sort(points, {}, &PlotPoint::x);
      band(points, colour_of(series));
      const bool second_file = series.hollow && !numbered;
      out_ << fmt::format("<polyline fill=\"none\" stroke=\"{}\"{} points=\"", colour_of(series),
                          second_file ? dashes_of(kDashesOfFile) : dashes_of(curve.kind));
      for (const PlotPoint& each : points) out_ << point(each.x, each.y);
      out_ << "\"/>\n";
      for (const PlotPoint& each : points) out_ << mark_at(series, x_(each.x), y_(each.y));
      if (numbered) number(points.back(), curve.kind, colour_of(series));
    }
  }

 private:
  static std::vector<double> xs(const SvgPlot& plot) {
    std::vector<double> all = plot.line_bends;
    each_point(plot, [&](const PlotPoint& point) { all.push_back(point.x); });
    return all;
  }

  static std::vector<double> ys(const SvgPlot& plot) {
    std::vector<double> all;
    for (const auto& line : plot.lines) {
      for (const double bend : plot.line_bends) all.push_back(line(bend));
    }
    each_point(plot, [&](const PlotPoint& point) { all.push_back(point.y); });
    return all;
  }

  template <class Take>
  static void each_point(const SvgPlot& plot, Take take) {
    for (const PlotSeries& series : plot.series) {
      for (const PlotCurve& curve : series.curves) std::ranges::for_each(curve.points, take);
    }
  }

  /// Beside the last point of a curve, and beside the numbers that stand there already.
  void number(const PlotPoint& last, std::size_t kind, std::string_view colour) {
    constexpr double kCharacters = 14, kLine = 10;
    const double y = y_(last.y) + 4;
    double x = x_(last.x) + 8;
    const auto is_taken = [&](const auto& place) {
      return std::abs(place.first - x) < kCharacters && std::abs(place.second - y) < kLine;
    };
    while (std::ranges::any_of(numbers_, is_taken) && x + 2 * kCharacters < kWidth) {
      x += kCharacters;
    }
    numbers_.emplace_back(x, y);
    out_ << fmt::format("<g font-size=\"11\" fill=\"{}\">{}</g>\n", colour,
                        text_at(x, y, "start", number_of(kind)));
  }

  void grid_line(double x1, double y1, double x2, double y2) const {
    out_ << fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#dfe3e8\"/>\n", x1,
        y1, x2, y2);
  }

  [[nodiscard]] std::string point(double x, double y) const {
    return fmt::format("{:.1f},{:.1f} ", x_(x), y_(y));
  }

  /// There along the upper ends of the intervals, back along the lower ones.
  void band(const std::vector<PlotPoint>& curve, std::string_view colour) const {
    out_ << fmt::format("<polygon fill=\"{}\" fill-opacity=\"0.2\" points=\"", colour);
    for (const PlotPoint& each : curve) out_ << point(each.x, each.hi);
    for (auto each = curve.rbegin(); each != curve.rend(); ++each) out_ << point(each->x, each->lo);
    out_ << "\"/>\n";
  }

  const SvgPlot& plot_;
  std::ostream& out_;
  double top_, bottom_;
  LogScale x_, y_;
  std::vector<std::pair<double, double>> numbers_;  ///< where they stand
};

}  // namespace

void write_svg(const SvgPlot& plot, std::ostream& out) {
  std::ostringstream legend;
  const double top = write_legend(plot, legend);
  const double bottom = std::max(kHeight - kBelow, top + kLeastPlot), height = bottom + kBelow;
  out << fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" "
      "role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"13\" fill=\"#1c2127\">\n"
      "<title>{}</title>\n<rect width=\"{}\" height=\"{}\" fill=\"#ffffff\"/>\n",
      kWidth, height, kWidth, height, xml_escaped(plot.title), kWidth, height);
  out << fmt::format("<g font-weight=\"600\" font-size=\"15\">{}</g>\n",
                     text_at(kLeft, 26, "start", cut_to_width(plot.title, 80)));
  out << legend.str();
  Drawing drawing(plot, top, bottom, out);
  drawing.axes();
  drawing.lines();
  for (const PlotSeries& series : plot.series) drawing.series(series);
  out << "</svg>\n";
}

namespace {

constexpr int kNotFound = 127;  // of a shell that finds no such program

}  // namespace

std::string png_of_svg(const std::string& svg) {
  const TemporaryFolder folder("plot");
  const std::string source = folder.file("plot.svg");
  std::ofstream file(source, std::ios::binary);
  file << svg;
  file.close();
  if (!file) throw EnvironmentError(fmt::format("cannot write {}", source));
  const std::string command =
      "rsvg-convert --format png --zoom 2 " + shell_quoted(source) + " 2>/dev/null";
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw EnvironmentError("cannot start a shell");
  std::string png;
  std::array<char, 65536> block{};
  for (std::size_t got; (got = fread(block.data(), 1, block.size(), pipe)) > 0;) {
    png.append(block.data(), got);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotFound) {
    throw EnvironmentError(
        "a PNG takes rsvg-convert, which is not installed (apt-get install librsvg2-bin); an SVG "
        "takes nothing");
  }
  if (status != 0 || png.empty()) throw EnvironmentError("rsvg-convert failed");
  return png;
}

}  // namespace attnbench
