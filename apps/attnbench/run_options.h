// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/option_values.h"
#include "apps/attnbench/output_files.h"
#include "apps/attnbench/plugins.h"
#include "lib/batch/step_part.h"
#include "lib/run/execute_run.h"
#include "lib/run/planned_run.h"

namespace attnbench {

/// The options that a repro line repeats: those that were given and change how a cell is measured.
/// Other parts of the line name the cell and say whether it is verified and timed twice.
struct RepeatedOptions {
  std::vector<std::string> always;
  std::vector<std::string> hosted;  ///< for backends with a host process of their own
};

struct RunOptions {
  std::vector<std::string> scenarios;
  RunFilter filter;
  std::vector<CacheState> cache;
  std::vector<LaunchMode> launch;
  std::vector<StepPart> step;
  std::optional<std::uint64_t> seed, sample_nonce;
  std::optional<double> precision, cell_timeout_s, quiet_wait_s;
  std::vector<int> rounds;  ///< fewest and most, or one number for both
  OutputOptions outputs;
  std::string resume;  ///< results to go on with; empty: begin anew
  std::string shard;   ///< "2/4"; empty: all cases
  std::string hybrid;  ///< "best": pair_backends(); else empty
  ExecutionOptions execution;
  CpuTargetOption cpu_target;
  bool wide = false, quiet = false, no_verify = false, strict = false, aa = false;
  bool force_graph = false;
  RepeatedOptions repeated;
};

void declare_run_options(CLI::App& app, RunOptions& options);
/// The words of --step.
[[nodiscard]] std::map<std::string, StepPart> step_words();
/// The part of them that every command takes which measures: cache states, launches, steps; and
/// how.
void declare_mode_options(CLI::App& app, RunOptions& options);
void declare_measuring_options(CLI::App& app, RunOptions& options);

/// The options of `run` that a command takes which starts processes of `run` (ab): which cells, and
/// how they are measured.
void declare_options_for_processes(CLI::App& app, RunOptions& options);

/// Such options as they were given, for the command lines of those processes. The rounds are left
/// out: each process runs one.
struct ProcessWords {
  std::vector<std::string> options;
  std::vector<std::string> filters;  ///< options that choose cells
};
[[nodiscard]] ProcessWords words_for_processes(const CLI::App& app);

[[nodiscard]] RepeatedOptions repeated_options(const CLI::App& app);

/// The scenarios of a command line, each with what the options override. Throws ConfigError.
[[nodiscard]] std::vector<Scenario> scenarios_of(const RunOptions& options,
                                                 const std::string& program);

/// The runs of a command line, of scenarios that have a case to run. `program` begins the lines
/// that repeat a cell. Throws ConfigError for every mistake of a user that keeps one of them from
/// its start, also for two files that no result could tell apart and for a pattern that matches no
/// case of any.
[[nodiscard]] std::vector<PlannedRun> planned_runs(const RunOptions& options,
                                                   const KnownBackends& known,
                                                   const std::string& program);

}  // namespace attnbench
