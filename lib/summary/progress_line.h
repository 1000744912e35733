// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <utility>

namespace attnbench {

/// The time that a run still needs, estimated from the cases that are done. It is rough, because
/// every other case counts as their mean.
class RemainingTime {
 public:
  explicit RemainingTime(std::size_t cases) : cases_(cases) {}

  /// `now_s` counts from any moment.
  void case_begins(double now_s);
  /// `case_s`: what the case itself still takes, 0 where that is not known. Returns 0 as long as
  /// nothing is known.
  [[nodiscard]] double seconds(double now_s, double case_s) const;

 private:
  std::size_t cases_, begun_ = 0;
  double first_s_ = 0, case_began_s_ = 0;
};

/// One line that is rewritten in place while a run goes on. Never wider than the terminal, because
/// a line that wraps cannot be erased. Into a pipe or a file go whole lines, now and then.
class ProgressLine {
 public:
  /// `width`: columns of the terminal now; empty where there is none: then a line each `every_s`
  /// seconds at most, and none at all for 0.
  ProgressLine(std::ostream& err, std::function<std::size_t()> width, std::size_t cases,
               double every_s = 0)
      : err_(err), width_(std::move(width)), every_s_(every_s), cases_(cases), remaining_(cases) {}

  /// "case 4/11 spec_tree" leads the lines that follow.
  void next_case(const std::string& id);
  /// At most ten times a second, so that a slow terminal cannot slow the measurement. `case_s`:
  /// what the case still takes, 0 if not known.
  void show(const std::string& text, double case_s);
  /// A line of no case.
  void show(const std::string& text);
  void clear();

 private:
  /// Columns that a line may take now; 0: it is not the time for one, or there is no terminal.
  [[nodiscard]] std::size_t room();
  void write(const std::string& line);
  /// Where there is no terminal.
  void log(const std::string& line);

  std::ostream& err_;
  std::function<std::size_t()> width_;
  double every_s_;
  std::size_t cases_, begun_ = 0;
  RemainingTime remaining_;
  bool visible_ = false;
  std::string id_;
  std::chrono::steady_clock::time_point last_{};
  std::chrono::steady_clock::time_point logged_ = std::chrono::steady_clock::now();
};

/// The line: the case's id is shortened first, since the figures change and the id does not.
[[nodiscard]] std::string progress_text(const std::string& lead, const std::string& id,
                                        const std::string& figures, std::size_t width);

}  // namespace attnbench
