// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/attnbench/cli_fwd.h"
#include "lib/backend/registry.h"

namespace attnbench {

/// Names shared objects and Python files with backends of their own, separated by colons: for every
/// command, and for the processes that a run starts.
inline constexpr const char* kPluginsVariable = "ATTNBENCH_PLUGINS";

/// The interpreter of Python plug-ins, for every command.
inline constexpr const char* kPythonVariable = "ATTNBENCH_PYTHON";

struct PluginOptions {
  std::vector<std::string> files;
  std::string python;  ///< empty: what the environment says, else python3
};

/// `--plugin FILE` and `--python PROGRAM` on every command that asks backends for something.
void add_plugin_options(CLI::App& program, PluginOptions& options);

/// `registry` with the backends of these files and of those that the environment names. From then
/// on that names the shared objects among them, for child processes of this program: Python's
/// backends have hosts of their own. Throws ConfigError and EnvironmentError.
[[nodiscard]] Registry with_plugins(const Registry& registry, const PluginOptions& options);

}  // namespace attnbench
