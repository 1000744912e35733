// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/result/record.h"

namespace attnbench {

// A baseline is a result that later ones are compared with. A folder of baselines holds
// <machine>/<scenario>.json, as `attnbench run --json` writes it, and <machine>/history.md with a
// line for each update.

/// A machine as a folder's name: "nvidia-h200"; of a processor with the threads in use, which no
/// two results may differ in: "amd-epyc-9654-16-threads".
[[nodiscard]] std::string machine_folder(const DeviceInfo& device);

/// Where `folder` has the baseline of a scenario for the machine of `run`.
[[nodiscard]] std::string baseline_path(const std::string& folder, const RunResult& run,
                                        const std::string& scenario);

/// The part of a run that belongs to one of its scenarios.
[[nodiscard]] RunResult part_of(const RunResult& run, const ScenarioSource& scenario);

/// The baselines of all scenarios of `now`, as one run. Throws EnvironmentError, naming each file
/// that is missing, and ConfigError for one that cannot be read or whose scenario has another name.
[[nodiscard]] RunResult read_baselines(const std::string& folder, const RunResult& now);

/// Throws ConfigError unless `run` can be a baseline: it is complete, no cell of it has failed, and
/// each of its scenarios has a time.
void expect_fit_for_a_baseline(const RunResult& run);

/// One baseline of a folder.
struct KeptBaseline {
  std::string path;
  RunResult run;
};
/// All of a folder, by path. Throws EnvironmentError where there is no such folder.
[[nodiscard]] std::vector<KeptBaseline> list_baselines(const std::string& folder);

}  // namespace attnbench
