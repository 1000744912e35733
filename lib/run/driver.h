// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lib/result/record.h"
#include "lib/run/run_plan.h"
#include "lib/session/executor.h"

namespace attnbench {

/// Called as a run proceeds; each may be empty.
struct RunHooks {
  std::function<void(const RunResult& header)> started;  ///< environment and ceilings known
  /// Records of a case that an earlier run has finished, in the order of the backends; they take
  /// the place of measuring it. None: it is to be measured.
  std::function<std::vector<Record>(const Case&, std::span<const Registry::Entry* const>)>
      measured_before;
  std::function<void(const Case&, const Cost&)> case_started;
  std::function<void(const std::string& line, double eta_s)> progress;
  std::function<void(const Record&)> record;  ///< a cell is done
  std::function<void(const Case&)> case_finished;
  std::function<bool()> stop_requested;
};

/// Builds, verifies, times. Records come in case order, within a case in backend order. A backend
/// that throws ends its own cells only; a GPU that is lost to an error ends those on it; any other
/// exception ends its case (Record::harness_error()), and what was measured before is kept. Stops
/// early, keeping all that is measured, when asked to.
///
/// A backend runs on a device of the kind BackendInfo::device. Where the run has none of that kind,
/// the backend's row says so. `plan` is the scenario's.
[[nodiscard]] RunResult run_scenario(const Scenario& scenario, const RunPlan& plan,
                                     Executor& executor, const RunHooks& hooks);

[[nodiscard]] Environment describe_environment(const DeviceInfo& device);

}  // namespace attnbench
