// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace attnbench {

/// Of a decimal number, in any locale.
[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "4096", "4k", "128k", "1m": digits and at most one suffix, k = 1024, m = 1024^2.
/// nullopt for anything else, a value beyond 63 bits included.
[[nodiscard]] std::optional<std::int64_t> parse_size(std::string_view text);

/// The same of a size of memory, which takes a third suffix: "141g", g = 1024^3.
[[nodiscard]] std::optional<std::int64_t> parse_bytes(std::string_view text);

}  // namespace attnbench
