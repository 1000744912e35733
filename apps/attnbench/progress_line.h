// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <string>

namespace attnbench {

/// One line that is rewritten in place while a run goes on. Only on a terminal: into a pipe or a
/// file it writes nothing.
class ProgressLine {
 public:
  ProgressLine(std::ostream& err, bool on_terminal) : err_(err), on_(on_terminal) {}

  /// "case 4/11 spec_tree" leads the lines that follow.
  void enter_case(const std::string& id, std::size_t index, std::size_t count);
  /// At most ten times a second, so that a slow terminal cannot slow the measurement.
  void show(const std::string& text, double eta_s);
  void clear();

 private:
  std::ostream& err_;
  bool on_;
  bool visible_ = false;
  std::string lead_;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace attnbench
