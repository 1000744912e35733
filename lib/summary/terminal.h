// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/result/ranking.h"
#include "lib/result/record.h"
#include "lib/run/driver.h"
#include "lib/summary/terminal_columns.h"

namespace attnbench {

struct TerminalOptions {
  bool colour = false;
  bool wide = false;                   ///< every column, and a row for each cell that was not run
  bool quiet = false;                  ///< only the closing line
  std::size_t width = kTerminalWidth;  ///< of a line; wide rows and repro lines may be longer
};

/// What the closing line says beside the records.
struct RunEnd {
  int exit_code = 0;
  std::size_t taken_over = 0;  ///< cases of an earlier run (--resume)
  std::string json_sha256{};   ///< of the JSON file as it was written; empty: none was
};

/// Prints a run while it happens: header, one table per case, a summary, closing line. Columns keep
/// their units from case to case, and their widths unless a longer name comes.
class TerminalReport {
 public:
  TerminalReport(std::ostream& out, TerminalOptions options);
  void started(const RunResult& header, const Scenario& scenario);
  void case_started(const Case& c, const Cost& cost);
  void record(const Record& record);
  /// Prints the case's rows, which stand in relation to each other.
  void case_finished(const Case& c);
  void finished(const RunResult& run, const RunEnd& end);

 private:
  [[nodiscard]] std::string row(const Record& record, const Ranking& ranking, bool colour) const;
  /// Whether a wrong cell has one line only, with a part of its reason.
  [[nodiscard]] bool is_cut(const Record& record) const;
  void print(const Record& record, const Ranking& ranking);
  void print_not_run();
  /// Makes the columns anew, so that the names of the case under way fit.
  void make_room_for_names();
  void print_engines(const std::vector<Ranking>& rankings);
  void print_legends(const RunResult& run);

  std::ostream& out_;
  TerminalOptions options_;
  Ceilings ceilings_;
  bool gpu_ = false;                     ///< one takes part
  std::size_t name_width_ = kNameWidth;  ///< of the longest backend so far
  bool several_modes_ = false;           ///< of cache and launch
  std::vector<TerminalColumn> columns_;
  std::int64_t last_level_cache_bytes_ = 0;
  int multiprocessors_ = 0;         ///< of the run's GPU, or of a usual one
  int capability_ = 0;              ///< of the run's GPU; 0: there is none, or an unknown one
  std::optional<KvLayout> layout_;  ///< that the case under way asks for
  std::vector<Record> records_;     ///< of the case under way
  std::set<std::string> notes_;     ///< of models, each printed with the first case that it is of
  double precision_ = 0;            ///< asked for; 0: not even an interval, of so few rounds
};

}  // namespace attnbench
