// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/backend/registry.h"
#include "lib/device/device.h"
#include "lib/scenario/scenario.h"

namespace attnbench {

/// Runs a case once for a profiler that watches this process: it records one forward in the NVTX
/// range of this name, and none of the work that prepares it. `entry` is present and runs on
/// `device`. Throws ConfigError where the backend does not support the case.
void run_profiled_forward(const Registry::Entry& entry, const Case& c, Device& device,
                          CacheState cache, const std::string& range);

}  // namespace attnbench
