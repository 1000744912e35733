// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/result/record.h"

namespace attnbench {

struct RunCircumstances {
  bool strict = false;
  /// Batch invariance is required, and --no-verify left it unchecked.
  bool requirement_unchecked = false;
  bool outputs_written = true;
  bool output_closed = false;  ///< the reader of standard output has gone
  bool output_failed = false;  ///< standard output failed otherwise: a full disk
  std::string failure;         ///< what kept a further scenario from being run; empty: nothing
  int signal = 0;              ///< that asked for a stop; 0 = none
};

struct RunOutcome {
  int exit_code = 0;
  std::string message;  ///< for standard error; empty when there is nothing to add
};

/// The exit code of a run (lib/base/exit_code.h) and, where the table does not say it, why.
[[nodiscard]] RunOutcome judge_run(const RunResult& run, const RunCircumstances& circumstances);

}  // namespace attnbench
