// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "lib/backend/registry.h"

namespace attnbench {

/// Names shared objects with backends of their own, separated by colons: for every command, and for
/// the processes that a run starts.
inline constexpr const char* kPluginsVariable = "ATTNBENCH_PLUGINS";

/// `--plugin FILE` on every command that asks backends for something.
void add_plugin_options(CLI::App& program, std::vector<std::string>& plugins);

/// `registry` with the backends of these files and of those that the environment names, which then
/// names them all. Throws ConfigError.
[[nodiscard]] Registry with_plugins(const Registry& registry,
                                    const std::vector<std::string>& plugins);

}  // namespace attnbench
