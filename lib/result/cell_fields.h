// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lib/result/record_fields.h"

namespace attnbench {

/// Of record_fields() the first: what was run, where and how.
[[nodiscard]] std::vector<RecordField> cell_fields();

}  // namespace attnbench
