// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/attnbench/run_options.h"
#include "lib/bench/driver.h"

namespace attnbench {

/// Runs backends in this process, except those with a host process of their own. With --isolate all
/// of them run in child processes, and this process opens no GPU.
[[nodiscard]] RunResult run_in_place(const RunOptions& options, const PlannedRun& planned,
                                     const RunHooks& hooks);

}  // namespace attnbench
