// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/attnbench/cli_fwd.h"
#include "apps/attnbench/cpu_target_option.h"
#include "apps/attnbench/output_files.h"
#include "lib/bench/driver.h"
#include "lib/bench/isolate/isolation.h"

namespace attnbench {

struct RunOptions {
  std::vector<std::string> scenarios;
  RunFilter filter;
  std::vector<CacheState> cache;
  std::vector<LaunchMode> launch;
  std::optional<std::uint64_t> seed;
  std::optional<double> precision, cell_timeout_s;
  std::vector<int> rounds;  ///< fewest and most, or one number for both
  OutputOptions outputs;
  DeviceOptions devices;
  CpuTargetOption cpu_target;
  bool isolate = false;
  double timeout_s = Isolation().timeout_s;
  bool wide = false, quiet = false, quick = false, no_verify = false, strict = false, aa = false;
  bool force_graph = false;
  std::vector<std::string> repeated;  ///< those that a line which repeats a cell carries
};

void declare_run_options(CLI::App& app, RunOptions& options);

/// Words of the options that change how a cell is measured, as far as they were given. Which cell
/// it is, and whether it is checked and doubled, the line says by itself.
[[nodiscard]] std::vector<std::string> repeated_options(const CLI::App& app);

/// A scenario with what the options put in place of its own words, and what to run of it.
struct PlannedRun {
  Scenario scenario;
  RunFilter filter;
};

/// Those of a command line that have a case to run. `program` begins the lines that repeat a cell.
/// Throws ConfigError, also for two files that no result could tell apart and for a pattern that
/// matches no case of any.
[[nodiscard]] std::vector<PlannedRun> planned_runs(const RunOptions& options,
                                                   const std::string& program);

}  // namespace attnbench
