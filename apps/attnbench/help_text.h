// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apps/attnbench/command.h"

namespace attnbench {

/// How --help is laid out: a list of commands has one sentence for each, without its examples, and
/// on a terminal of `width` columns descriptions are broken between words. 0: no terminal, lines
/// are as long as they are, so that other programs read one option from one line.
[[nodiscard]] std::shared_ptr<CLI::FormatterBase> help_text(std::size_t width);

/// The message for a command line that CLI11 refused: what was found, the nearest word, what is
/// allowed there. `words` are those of the command line, without the program's name.
[[nodiscard]] std::string usage_message(const CLI::App& app, const CLI::ParseError& error,
                                        const std::vector<std::string>& words);

}  // namespace attnbench
