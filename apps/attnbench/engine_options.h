// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/engines/engine_setup.h"

namespace attnbench {

/// The device of this name. Throws ConfigError with the nearest name and all of them.
[[nodiscard]] EngineDevice engine_device_named(const std::string& name);

}  // namespace attnbench
