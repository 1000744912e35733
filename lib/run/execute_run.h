// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "lib/run/driver.h"
#include "lib/session/devices.h"

namespace attnbench {

/// Where the backends of a run work.
struct ExecutionOptions {
  DeviceOptions devices;
  bool isolate = false;               ///< all of them in processes of their own
  bool quick = false;                 ///< a smoke test: the ceilings of devices may be rough
  bool remeasure = false;             ///< the ceilings, even if an earlier run has kept them
  bool instrumented = false;          ///< another program slows kernels down: no timer is checked
  std::optional<double> timeout_s{};  ///< Isolation::timeout_s
};

/// run_scenario() with backends in this process, except those with a host process of their own,
/// which plug-ins have. With `isolate` all of them run in child processes, and this process opens
/// no GPU. `note` tells a person who waits.
[[nodiscard]] RunResult execute_run(const ExecutionOptions& options, const Scenario& scenario,
                                    const RunPlan& plan, const RunHooks& hooks,
                                    const std::function<void(const std::string&)>& note = {});

}  // namespace attnbench
