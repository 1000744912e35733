// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/base/error.h"

namespace attnbench {

/// A stretch of one line of a file; line and column count from 1 (column in bytes).
struct Place {
  int line = 0;  ///< 0: the file as a whole
  int column = 0;
  int length = 1;
};

/// Collects the mistakes of one file, so that they are reported at once: the first kMostShown of
/// the file with their lines, the others by their number.
class Problems {
 public:
  static constexpr std::size_t kMostShown = 50;

  Problems(std::string_view text, std::string file);

  /// One mistake. A place is reported once: a value that is wrong in every case of a sweep is one
  /// mistake, and its consequences are not further mistakes.
  void add(const Place& place, std::string message, std::string hint = {});

  /// Text of a line, counted from 1; "" for others.
  [[nodiscard]] std::string_view line(int number) const;
  [[nodiscard]] bool empty() const { return shown_.empty(); }
  [[nodiscard]] const std::string& file() const { return file_; }

  /// Throws a ConfigError with the mistakes in the order of their places, if there are any.
  void throw_if_any() const;

 private:
  std::string file_;
  std::vector<std::string> lines_;
  std::set<std::pair<int, int>> places_;  ///< line and column of every mistake that has them
  /// By line, column and the order of reports.
  std::map<std::tuple<int, int, std::size_t>, Diagnostic> shown_;
  std::size_t reports_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace attnbench
