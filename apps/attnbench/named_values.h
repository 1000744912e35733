// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/batch/cache_format.h"
#include "lib/engines/engine_setup.h"
#include "lib/model/model_geometry.h"

namespace attnbench {

/// A preset, or a config.json by its path. Throws ConfigError: the nearest presets of an unknown
/// name, which `option` introduces ("--model: "), or file and field of a config.
[[nodiscard]] ModelGeometry resolve_model(const std::string& name, const std::string& option = "");

/// The device of this name. Throws ConfigError with the nearest name and all of them.
[[nodiscard]] EngineDevice engine_device_named(const std::string& name);

/// Sets the version of the engine that has such a one: "0.22" is vLLM 0.22.0. Throws ConfigError
/// with all versions.
void set_engine_version(const std::string& version, EngineSetup& setup);

/// What --kv-dtype calls DeepSeek's 656-byte rows: vLLM's name of them.
inline constexpr const char* kBlockRows = "fp8_ds_mla";

/// Type and scales of the cache that --kv-dtype names: kBlockRows, or a type, which CLI11 has
/// checked.
[[nodiscard]] CacheFormat kv_format_of(const std::string& word);

}  // namespace attnbench
