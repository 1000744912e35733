// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/batch/cache_format.h"
#include "lib/engines/engine_setup.h"
#include "lib/model/model_geometry.h"
#include "lib/scenario/scenario.h"

namespace attnbench {

/// The word for standard input.
inline constexpr const char* kStandardInput = "-";

/// Help of the option that takes a scenario.
inline constexpr const char* kScenarioHelp =
    "scenario file (YAML), the name of one that was installed, or - for standard input";

/// Where `cmake --install` puts scenarios: beside the program's folder.
[[nodiscard]] std::string installed_scenarios();

/// The file that a word of the command line means: itself, or else an installed scenario of that
/// name, with or without its ending. A word that means nothing is given back.
[[nodiscard]] std::string find_scenario(const std::string& word,
                                        const std::string& installed = installed_scenarios());

/// load_scenario of what the word means. Throws ConfigError with the installed names when it means
/// nothing.
[[nodiscard]] Scenario read_scenario(const std::string& word, std::optional<std::uint64_t> seed);

/// A preset, or a config.json by its path. Throws ConfigError: the nearest presets of an unknown
/// name, which `option` introduces ("--model: "), or file and field of a config.
[[nodiscard]] ModelGeometry resolve_model(const std::string& name, const std::string& option = "");

/// The device of this name. Throws ConfigError with the nearest name and all of them.
[[nodiscard]] EngineDevice engine_device_named(const std::string& name);

/// Sets the version of the engine that has such a one: "0.22" is vLLM 0.22.0. Throws ConfigError
/// with all versions.
void set_engine_version(const std::string& version, EngineSetup& setup);

/// Type and scales of the model's cache that --kv-dtype names: kDsMlaRows, or a type, which CLI11
/// has checked.
[[nodiscard]] CacheFormat kv_format_of(const std::string& word, const ModelGeometry& model);

}  // namespace attnbench
