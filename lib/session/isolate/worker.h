// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "lib/backend/registry.h"

namespace attnbench {

/// The first argument of a program that is to be a worker; the second is its parent's process id.
constexpr const char* kWorkerCommand = "worker";

/// Does one backend's work for the run at the other end of kWorkerDescriptor, until that is closed.
/// Dies with `parent`. Returns the exit code.
[[nodiscard]] int run_worker(const Registry& registry, pid_t parent);

}  // namespace attnbench
