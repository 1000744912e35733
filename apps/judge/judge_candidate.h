// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/run_options.h"
#include "lib/summary/judgement.h"

namespace attnbench {

struct JudgeOptions {
  std::string candidate;              ///< a plug-in file
  std::vector<std::string> backends;  ///< of it; empty: all that run by default
  std::vector<std::string> against;   ///< names and globs; empty: see usual_rivals()
  double limit_s = 120;               ///< for all of it
  std::string scratch{};  ///< a folder for the candidate; empty: one that is then removed
  RunOptions run;         ///< one scenario, and how it is measured
};

/// Runs the candidate's backends beside their rivals and judges them. Throws ConfigError for every
/// mistake of the user, which nothing is measured before, and EnvironmentError.
[[nodiscard]] CandidateJudgement judge_candidate(const JudgeOptions& options,
                                                 const KnownBackends& known, Console& console);

}  // namespace attnbench
