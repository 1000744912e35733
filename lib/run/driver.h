// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lib/backend/registry.h"
#include "lib/result/record.h"
#include "lib/scenario/scenario.h"
#include "lib/session/devices.h"
#include "lib/session/executor.h"

namespace attnbench {

/// What of a scenario to run. Empty lists mean all.
struct RunFilter {
  std::vector<std::string> cases;     ///< ids, or globs with * and ?
  std::vector<std::string> backends;  ///< names, or globs
};

/// Called as a run proceeds; each may be empty.
struct RunHooks {
  std::function<void(const RunResult& header)> started;  ///< environment and ceilings known
  /// Records of a case that an earlier run has finished, in the order of the backends; they take
  /// the place of measuring it. None: it is to be measured.
  std::function<std::vector<Record>(const Case&, std::span<const Registry::Entry* const>)>
      measured_before;
  std::function<void(const Case&, const Cost&, std::size_t index, std::size_t count)> case_started;
  std::function<void(const std::string& line, double eta_s)> progress;
  std::function<void(const Record&)> record;  ///< a cell is done
  std::function<void(const Case&)> case_finished;
  std::function<bool()> stop_requested;
};

/// Cases of `scenario` that the filter lets through, in order. Throws ConfigError naming the
/// nearest id when a pattern matches nothing.
[[nodiscard]] std::vector<const Case*> select_cases(const Scenario& scenario,
                                                    const RunFilter& filter);

/// Whether `pattern` is the id of a case, or a glob that matches one.
[[nodiscard]] bool any_case_matches(const Scenario& scenario, const std::string& pattern);

/// Throws ConfigError for every mistake of a user that keeps a run from its start: a pattern or
/// backend that does not exist, a pool that is too small, a case too large to count.
void check_run(const Scenario& scenario, const Registry& registry, const RunFilter& filter);

/// Expands, builds, verifies, times. Records come in case order, within a case in backend order. A
/// backend that throws ends its own cells only; a GPU that is lost to an error ends those on it;
/// any other exception ends its case (Record::trouble()), and what was measured before is kept.
/// Stops early, keeping all that is measured, when asked to.
///
/// A backend runs on a device of the kind BackendInfo::device. Where the run has none of that kind,
/// the backend's row says so. A case has records of the backends that take part in it
/// (lib/run/backend_choice.h).
[[nodiscard]] RunResult run_scenario(const Scenario& scenario, const Registry& registry,
                                     Executor& executor, const RunFilter& filter,
                                     const RunHooks& hooks);
/// In this process.
[[nodiscard]] RunResult run_scenario(const Scenario& scenario, const Registry& registry,
                                     const Devices& devices, const RunFilter& filter,
                                     const RunHooks& hooks);

[[nodiscard]] Environment describe_environment(const DeviceInfo& device);

}  // namespace attnbench
