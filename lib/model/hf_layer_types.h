// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "lib/model/layer_kind.h"

namespace attnbench {

/// The kind that a word of a config's layer_types names; `path` leads to the list. Throws
/// ConfigError with the words that are known.
[[nodiscard]] LayerKind kind_of_layer_type(std::string_view word, const std::string& path);

}  // namespace attnbench
