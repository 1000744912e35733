// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "lib/result/record.h"

namespace attnbench {

/// The sums of model_steps(); "" where no mix has `layers`. Lines have at most `width` columns.
[[nodiscard]] std::string model_steps_terminal_section(const RunResult& run, std::size_t width);
[[nodiscard]] std::string model_steps_markdown_section(const RunResult& run);

}  // namespace attnbench
