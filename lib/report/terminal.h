// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>

#include "lib/bench/driver.h"
#include "lib/bench/record.h"

namespace attnbench {

struct TerminalOptions {
  bool colour = false;
  bool wide = false;   ///< every column; otherwise the table fits 100 columns
  bool quiet = false;  ///< only the closing line
};

/// Prints a run while it happens: header, one table per case, closing line. Columns never jump
/// between cases. See experience.md for the look.
class TerminalReport {
 public:
  TerminalReport(std::ostream& out, TerminalOptions options);
  void started(const RunResult& header, const Scenario& scenario);
  void case_started(const Case& c, const Cost& cost);
  void record(const Record& record);
  void case_finished(const Case& c);
  void finished(const RunResult& run, int exit_code);

 private:
  std::ostream& out_;
  TerminalOptions options_;
};

}  // namespace attnbench
