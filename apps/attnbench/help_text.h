// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "apps/attnbench/cli_fwd.h"

namespace attnbench {

/// How --help is laid out: a list of commands has one sentence for each, without its examples, and
/// on a terminal of `width` columns descriptions are broken between words. 0: no terminal, lines
/// are as long as they are, so that other programs read one option from one line.
[[nodiscard]] std::shared_ptr<CLI::FormatterBase> help_text(std::size_t width);

}  // namespace attnbench
