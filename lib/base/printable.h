// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace attnbench {

/// `text`, which may come from a file, a name or a backend, made safe to show. Characters that
/// could control a terminal, change the reading direction or break a document (control characters,
/// bytes that are no UTF-8) become their numbers: "\x1b", "\u202e". Line breaks and tabs stay.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace attnbench
