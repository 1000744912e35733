// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "apps/attnbench/run_options.h"
#include "lib/run/driver.h"

namespace attnbench {

/// Runs backends in this process, except those with a host process of their own, which plug-ins
/// have. With --isolate all of them run in child processes, and this process opens no GPU. `note`
/// tells a person who waits.
[[nodiscard]] RunResult run_in_place(const RunOptions& options, const PlannedRun& planned,
                                     const RunHooks& hooks,
                                     const std::function<void(const std::string&)>& note = {});

}  // namespace attnbench
