// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnbench {

/// A word as a POSIX shell reads it back.
[[nodiscard]] std::string shell_quoted(std::string_view word);

/// A command line of these words.
[[nodiscard]] std::string shell_text(const std::vector<std::string>& words);

}  // namespace attnbench
