// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/backend/registry.h"

namespace attnbench {

/// Loads the shared object at `path` and registers the backends that it exports
/// (attnbench/backend.h); it stays loaded until the program ends. Throws ConfigError when there is
/// no such file, when it is no plug-in or one of another version of the interface, when what it
/// says of itself makes no sense, and when a backend's name is taken. GPU backends are registered
/// as absent, with `cuda_absence` as the reason, unless that is empty.
void load_plugin(const std::string& path, const std::string& cuda_absence, Registry& registry);

}  // namespace attnbench
