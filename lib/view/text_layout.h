// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace attnbench {

/// Parts joined by " · " (after a comma by a space), on as many lines as `width` asks for; later
/// lines are indented.
[[nodiscard]] std::string join_parts(std::span<const std::string> parts, std::size_t width,
                                     std::size_t indent);
/// Words of `text` on lines of at most `width` columns, each indented, each ending in a line break.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace attnbench
