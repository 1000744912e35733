// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "lib/gate/ab.h"

namespace attnbench {

/// Two programs, or one with two interpreters of plug-ins in Python, and what both are asked to
/// run.
struct AbPrograms {
  std::string base, now;
  std::vector<std::string> scenarios;
  std::vector<std::string> options;         ///< of `attnbench run`, for both
  std::vector<std::string> filters;         ///< options that choose cells, where no cells are named
  std::string base_python{}, new_python{};  ///< as --python takes them; empty: `options` name any
};

/// The command of one process: one round of each cell, results to `json`.
[[nodiscard]] std::vector<std::string> ab_command(const AbPrograms& programs, AbSide side,
                                                  bool verify, const std::vector<CellKey>& cells,
                                                  const std::string& json);

/// Starts `words` and reads the results that it wrote to `json`. A process that ends without any is
/// a failure with the last line that it printed. One that has not ended after `limit`, or when
/// `stop_requested`, is killed with its whole process group; at the limit it counts as crashed.
/// Throws EnvironmentError when the program cannot be started.
[[nodiscard]] AbMeasurement run_ab_process(const std::vector<std::string>& words,
                                           const std::string& json,
                                           std::chrono::duration<double> limit,
                                           const std::function<bool()>& stop_requested);

}  // namespace attnbench
