// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <exception>
#include <iostream>

#include "backends/register.h"
#include "lib/backend/plugin.h"
#include "lib/base/exit_code.h"
#include "lib/device/cuda/cuda_device.h"
#include "lib/isolate/worker.h"

/// Does the work of a run's child process in a process that is not attnbench's own, with the
/// backends of `tables`: lib/isolate/python_host.py calls it. `parent` is the run's process
/// id. Returns the exit code.
extern "C" __attribute__((visibility("default"))) int attnbench_worker(
    std::int32_t parent, const attnbench_backend* tables, std::size_t count) {
  using namespace attnbench;
  try {
    Registry registry;
    register_tables(tables, count, "of Python", cuda_absence(), registry);
    return run_worker(registry, parent, register_builtin_backends);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return static_cast<int>(ExitCode::kInternal);
  }
}
