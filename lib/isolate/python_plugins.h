// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/backend/python_environment.h"
#include "lib/backend/registry.h"
#include "lib/isolate/child_output.h"

namespace attnbench {

/// How backends in Python files are run.
struct PythonHost {
  std::vector<PythonEnvironment> environments;  ///< at least one; as expect_distinct() has them
  std::string worker_library;                   ///< libattnbench_worker.so, which Python loads
  Describing describing{};
};

/// Registers the backends of the Python file at `path`, each of which runs in a process of an
/// environment's interpreter. One that several environments have, with the packages that it
/// requires, is registered for each of them, as "v33/vllm:fa3". GPU backends are registered as
/// absent, with `cuda_absence` as the reason, unless that is empty; so are those whose packages no
/// environment has, with pip's command line.
///
/// Throws ConfigError, with Python's message, when there is no such file or no valid backend in it,
/// PluginCrashed when its code ends the interpreter, and EnvironmentError when there is no such
/// interpreter or no library. Where another environment can read the file, neither is thrown: a
/// sentence for each that cannot is returned. One whose interpreter is at fault leaves `host`.
[[nodiscard]] std::vector<std::string> load_python_plugin(const std::string& path, PythonHost& host,
                                                          const std::string& cuda_absence,
                                                          Registry& registry);

}  // namespace attnbench
