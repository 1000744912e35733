// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/result/field_access.h"

namespace attnbench {

// The fields that together are a record's outcome. Read from a CSV in the order of its columns,
// which is the order here; what no outcome can be (a time of a cell that was skipped) is a
// ConfigError.

[[nodiscard]] FieldAccess reason_access();
[[nodiscard]] FieldAccess verdict_access();
/// The median time, which a cell has that was timed.
[[nodiscard]] FieldAccess median_access();
[[nodiscard]] FieldAccess impossible_access();

}  // namespace attnbench
