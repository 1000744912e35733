// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/block_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/view/units.h"

namespace attnbench {
namespace {

constexpr std::size_t kLines = 7;
constexpr std::size_t kFewestColumns = 10;

/// Values from `lo` to `hi` on the places 0 to `last`.
struct Scale {
  double lo = std::numeric_limits<double>::infinity();
  double hi = -std::numeric_limits<double>::infinity();
  std::size_t last = 0;

  void take(double value) {
    lo = std::min(lo, value);
    hi = std::max(hi, value);
  }
  [[nodiscard]] std::size_t place(double value) const {
    const double part = hi > lo ? (value - lo) / (hi - lo) : 0.5;
    return static_cast<std::size_t>(std::lround(part * static_cast<double>(last)));
  }
};

/// The lines of the plot, the highest first, a text for each column.
class Canvas {
 public:
  Canvas(Scale x, Scale y) : x_(x), y_(y), cells_(kLines, std::vector<Cell>(x.last + 1)) {}

  void add(const PlotPoint& point) {
    const std::size_t column = x_.place(point.x);
    const std::size_t bottom = line_of(point.lo), top = line_of(point.hi);
    for (std::size_t line = top; line <= bottom; ++line) cells_[line][column].between = true;
    const std::size_t half = y_.place(point.y);
    Cell& cell = cells_[line_of(point.y)][column];
    (half % 2 == 1 ? cell.upper : cell.lower) = true;
  }

  /// From the bottom two halves make a line.
  [[nodiscard]] std::size_t line_of(double y) const { return kLines - 1 - y_.place(y) / 2; }

  [[nodiscard]] std::string text(std::size_t line, bool dotted) const {
    std::string text;
    for (const Cell& cell : cells_[line]) text += sign_of(cell, dotted);
    return text;
  }

 private:
  struct Cell {
    bool upper = false, lower = false, between = false;
  };

  static const char* sign_of(const Cell& cell, bool dotted) {
    if (cell.upper && cell.lower) return "█";
    if (cell.upper) return "▀";
    if (cell.lower) return "▄";
    if (cell.between) return "│";
    return dotted ? "┄" : " ";
  }

  Scale x_, y_;
  std::vector<std::vector<Cell>> cells_;
};

std::string without_end_spaces(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

std::string block_plot(const BlockPlot& plot, std::size_t width) {
  if (plot.points.empty()) return {};
  Scale x, y;
  for (const PlotPoint& point : plot.points) {
    x.take(point.x);
    for (const double value : {point.y, point.lo, point.hi}) y.take(value);
  }
  for (const PlotMark& mark : plot.marks) x.take(mark.x);
  if (plot.level) y.take(*plot.level);
  y.last = 2 * kLines - 1;

  std::vector<std::string> labels(kLines);
  labels.front() = plot.label(y.hi);
  labels.back() = plot.label(y.lo);
  const Canvas heights(x, y);
  const std::size_t level_line = plot.level ? heights.line_of(*plot.level) : kLines;
  if (plot.level) labels[level_line] = plot.label(*plot.level);
  std::size_t label_width = 0;
  for (const std::string& label : labels) {
    label_width = std::max(label_width, display_width(label));
  }
  const std::size_t beside = label_width + 3;
  const std::size_t room = width > beside + kFewestColumns ? width - beside : kFewestColumns;
  const std::size_t columns = std::clamp(plot.most_columns, kFewestColumns, room);
  x.last = columns - 1;

  Canvas canvas(x, y);
  for (const PlotPoint& point : plot.points) canvas.add(point);
  std::string text;
  for (std::size_t line = 0; line < kLines; ++line) {
    text += fit_right(labels[line], label_width) + (labels[line].empty() ? " │" : " ┤");
    text += without_end_spaces(canvas.text(line, line == level_line)) + '\n';
  }
  std::vector<std::string> axis(columns, "─");
  for (const PlotMark& mark : plot.marks) axis[x.place(mark.x)] = mark.sign;
  text += std::string(label_width, ' ') + " └";
  for (const std::string& sign : axis) text += sign;
  const std::size_t taken = display_width(plot.from) + display_width(plot.to);
  text += '\n' + std::string(label_width + 2, ' ') + plot.from +
          std::string(columns > taken ? columns - taken : 1, ' ') + plot.to + '\n';
  return text;
}

}  // namespace attnbench
