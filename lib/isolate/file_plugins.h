// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/backend/registry.h"

namespace attnbench {

/// The first argument of a program that is to describe a plug-in; the file and its parent's process
/// id follow.
constexpr const char* kDescribeCommand = "describe-plugin";

/// Registers the backends of the shared object at `path`, each of which runs in a process of this
/// program. Its code is never in this process: another one says what it holds. Throws as
/// load_plugin() does, and ConfigError, too, when its code crashes, exits or hangs as it is loaded.
void add_object_plugin(const std::string& path, const std::string& cuda_absence,
                       Registry& registry);

/// What such a process does: loads the object and prints its backends. Ends the process.
[[noreturn]] void describe_object_plugin(const std::string& path);

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
