// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/attnbench/cli_fwd.h"

namespace attnbench {

/// The message for a command line that CLI11 refused: what was found, the nearest word, what is
/// allowed there. `words` are those of the command line, without the program's name.
[[nodiscard]] std::string usage_message(const CLI::App& app, const CLI::ParseError& error,
                                        const std::vector<std::string>& words);

}  // namespace attnbench
