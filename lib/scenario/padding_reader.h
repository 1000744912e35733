// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "lib/config/problems.h"
#include "lib/config/yaml_tree.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// Reads `padding` of a mix, which may be null: a number of requests, or a map that also says which
/// length they have, and how many rows of query tokens belong to no request.
[[nodiscard]] std::optional<BatchPadding> read_padding(const YamlNode* node, Problems& problems);

}  // namespace attnbench
