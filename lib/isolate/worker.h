// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>

#include "lib/backend/registry.h"

namespace attnbench {

/// The first argument of a program that is to be a worker; the second is its parent's process id.
constexpr const char* kWorkerCommand = "worker";

/// Makes this process a worker: it dies with `parent`, adopts what its own children leave behind,
/// and has no power over other processes. To be called before any code of a plug-in runs. False
/// where the parent has ended.
[[nodiscard]] bool become_worker(pid_t parent);

/// Does one backend's work for the run at the other end of kWorkerDescriptor, until that is closed.
/// Dies with `parent`. Returns the exit code. `others_of_pairs` adds the backends that parts of a
/// pair can be, besides those of `registry`; it is called only for a pair, because looking for
/// libraries of theirs would load them beside those of the process.
using AddBackends = std::function<void(Registry&)>;
[[nodiscard]] int run_worker(const Registry& registry, pid_t parent,
                             const AddBackends& others_of_pairs = {});

}  // namespace attnbench
