// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/exit_code.h"
#include "lib/gate/comparability.h"
#include "lib/gate/gate_verdict.h"
#include "lib/gate/policy.h"
#include "lib/gate/speed.h"
#include "lib/result/record.h"

namespace attnbench {

/// One cell of two results, judged.
struct Comparison {
  CellKey cell;
  std::string mix;
  Judgement judgement;
  std::optional<SpeedEvidence> speed;  ///< where both sides have a time
  double edge = 0;                     ///< from which change on it counts, of the base time
  bool converged = true;               ///< both sides
  bool failed_before = false;          ///< the base was wrong or crashed
  std::string base_kernel = {}, new_kernel = {};  ///< what they launched, where both ran
  std::string repro;                              ///< runs the cell again
  std::string allowed_because;  ///< the reason of the allowance that excuses it; may be empty

  /// Weighs on the exit code.
  [[nodiscard]] bool counts() const { return allowed_because.empty(); }
};

/// What every sink of the gate writes.
struct GateReport {
  std::string base, now;                  ///< files, programs or backends
  std::vector<ScenarioSource> scenarios;  ///< of the new result
  std::vector<Comparison> cells;          ///< by harm, then the slowest first
  std::vector<std::string> remarks;       ///< what a reader should know and decides nothing
  bool confirmed = false;                 ///< judged from pairs of processes
  bool interrupted = false;
};

struct CompareOptions {
  Policy policy{};
  Waivers waivers{};
  /// Two separate runs decide. Otherwise the worst that they can say of a time is SUSPECT.
  bool trust_sequential = false;
  std::chrono::year_month_day today{};  ///< against which allowances expire
};

/// Cells match by CellKey. Throws ConfigError when one result holds a cell twice.
[[nodiscard]] GateReport compare_runs(const RunResult& base, const RunResult& now,
                                      const CompareOptions& options);

/// Two backends of one run, or with stars ("v22/*", "v33/*") pairs of them, from the rounds that
/// visited both: these take turns, so they decide. Throws ConfigError as records_of() does.
[[nodiscard]] GateReport compare_backends(const RunResult& run, const std::string& base,
                                          const std::string& now, const CompareOptions& options);

/// Pairs of each cell, base and new side measured beside each other.
using CellPairs = std::map<CellKey, std::vector<TimedPair>>;

/// Two runs whose times come from pairs of fresh processes, which decide. The records tell
/// everything else. A cell that both have and `pairs` has not was measured in no pair.
[[nodiscard]] GateReport compare_pairs(const RunResult& base, const RunResult& now,
                                       const CellPairs& pairs, const CompareOptions& options);

/// What an allowance excuses is marked; those that expired or met nothing are remarks.
void apply_allowances(GateReport& report, const CompareOptions& options);

/// By harm, then the slowest first.
void sort_by_harm(GateReport& report);

/// 2 INCORRECT, 1 REGRESSED, 5 NOT_COMPARABLE; with `strict` 3 for what is not known to be good;
/// 4 where no cell of the base is in the new result.
[[nodiscard]] ExitCode exit_code_of(const GateReport& report, bool strict);

}  // namespace attnbench
