// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "lib/bench/driver.h"
#include "lib/bench/record.h"
#include "lib/report/terminal_columns.h"

namespace attnbench {

struct TerminalOptions {
  bool colour = false;
  bool wide = false;                   ///< every column; otherwise the table fits 100 columns
  bool quiet = false;                  ///< only the closing line
  std::size_t width = kTerminalWidth;  ///< of a line; wide rows and repro lines may be longer
};

/// Prints a run while it happens: header, one table per case, closing line. Columns never jump
/// between cases: their widths and units are settled before the first one.
class TerminalReport {
 public:
  TerminalReport(std::ostream& out, TerminalOptions options);
  void started(const RunResult& header, const Scenario& scenario);
  void case_started(const Case& c, const Cost& cost);
  void record(const Record& record);
  void case_finished(const Case& c);
  void finished(const RunResult& run, int exit_code);

 private:
  [[nodiscard]] std::string row(const Record& record, bool colour) const;

  std::ostream& out_;
  TerminalOptions options_;
  std::vector<TerminalColumn> columns_;
  std::int64_t last_level_cache_bytes_ = 0;
  int multiprocessors_ = 0;         ///< of the run's GPU, or of a usual one
  IndexTiming index_;               ///< of the case under way
  std::optional<KvLayout> layout_;  ///< that the case under way asks for
  std::string untimed_;             ///< backend and reason of the last row without a time
};

}  // namespace attnbench
