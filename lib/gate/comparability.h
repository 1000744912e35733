// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/result/record.h"

namespace attnbench {

/// The conditions that two results must share, as --allow names them.
inline constexpr std::string_view kConditions[] = {"device",   "driver", "cuda",    "scenario",
                                                   "contents", "seed",   "settings"};
/// Those that are compared although they differ. The report prints each that mattered.
using Waivers = std::set<std::string>;

/// A condition that base and new do not share.
struct Difference {
  std::string condition;  ///< of kConditions
  std::string scenario;   ///< empty: of the whole run
  std::string text;       ///< "NVIDIA H100 in the base, NVIDIA H200 now"
};

/// Device (its model, instruction set and units), major versions of driver and CUDA, and of each
/// scenario that both ran: the hash of its file, its seed, and the options of the command line that
/// change how cells are measured. What a file does not tell differs from what the other one tells.
[[nodiscard]] std::vector<Difference> differences_of(const RunResult& base, const RunResult& now);

/// Whether the inputs were the same: only then do records of one cell compare.
[[nodiscard]] std::vector<Difference> differences_of(const Record& base, const Record& now);

/// Days since the run began; none where it does not tell when.
[[nodiscard]] std::optional<int> age_in_days(const RunResult& run,
                                             std::chrono::year_month_day today);

/// What a reader should know and what decides nothing: another host, build or minor version, other
/// packages of a cell and another kernel of theirs, an interrupted run, a base that is older than
/// 30 days.
[[nodiscard]] std::vector<std::string> remarks_on(const RunResult& base, const RunResult& now,
                                                  std::chrono::year_month_day today);

}  // namespace attnbench
