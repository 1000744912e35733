// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace attnbench {

/// `text` as XML's attributes and elements take it; control characters as printable() shows them.
[[nodiscard]] std::string xml_escaped(std::string_view text);

}  // namespace attnbench
