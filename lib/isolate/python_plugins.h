// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/backend/registry.h"

namespace attnbench {

/// How backends in Python files are run.
struct PythonHost {
  std::string python = "python3";  ///< the interpreter, by path or looked for on PATH
  std::string worker_library;      ///< libattnbench_worker.so, which the interpreter loads
};

/// Registers the backends of the Python file at `path`, each of which runs in a process of `host`'s
/// interpreter. Throws ConfigError, with Python's message, when there is no such file or no valid
/// backend in it, and EnvironmentError when there is no such interpreter or no library. GPU
/// backends are registered as absent, with `cuda_absence` as the reason, unless that is empty; so
/// are those that require packages which the interpreter does not have, with pip's command line.
void load_python_plugin(const std::string& path, const PythonHost& host,
                        const std::string& cuda_absence, Registry& registry);

}  // namespace attnbench
