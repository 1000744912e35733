// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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

}  // namespace attnbench
