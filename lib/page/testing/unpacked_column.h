// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lib/view/json.h"

namespace attnbench {

/// What packed_column() was given, figures rounded: as template/packed.js does it.
[[nodiscard]] std::vector<Json> unpacked_column(const Json& packed);

}  // namespace attnbench
