// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace attnbench {

/// `text` as it may be shown to a person, whoever wrote it: a file, a name, a backend. What could
/// steer a terminal, turn the reading direction or break a document (control characters, bytes that
/// are no UTF-8) becomes its number: "\x1b", "\u202e". Line breaks and tabs stay.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace attnbench
