// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/view/json.h"

namespace attnbench {

/// What results/schema.json says of a record.
[[nodiscard]] Json record_schema();

}  // namespace attnbench
