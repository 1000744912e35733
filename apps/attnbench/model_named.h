// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/model/model_geometry.h"

namespace attnbench {

/// A preset, or a config.json by its path. Throws ConfigError: the nearest presets of an unknown
/// name, which `option` introduces ("--model: "), or file and field of a config.
[[nodiscard]] ModelGeometry model_named(const std::string& name, const std::string& option = "");

}  // namespace attnbench
