// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace attnbench {

/// Whether `pattern` describes the whole of `text`: `*` stands for any run of characters ('/'
/// included), `?` for one, everything else for itself.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace attnbench
