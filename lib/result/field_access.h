// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/result/record.h"
#include "lib/view/field.h"
#include "lib/view/json.h"

namespace attnbench {

/// How a field is taken out of a record and put back.
using FieldAccess = Access<Record>;

/// A property that is -1 not tested, 0 no, 1 yes, as the CSV has it; in JSON null, false, true.
template <auto... kMembers>
[[nodiscard]] FieldAccess tested() {
  FieldAccess access = member<kMembers...>();
  access.value = [](const Record& r) {
    const int property = (r.*....*kMembers);
    return property < 0 ? Json(nullptr) : Json(property == 1);
  };
  access.type = {{"type", {"boolean", "null"}}};
  access.absent = "-1";
  return access;
}

/// A text that names a data type.
[[nodiscard]] FieldAccess of_dtypes(FieldAccess access);

/// A figure that a reader computes again from others.
[[nodiscard]] FieldAccess computed(Json (*value)(const Record&), Json type = type_of<double>());

/// "mha", "mla", "mla_composed", "gated_delta_net", "kimi_delta", "lightning" or "mamba2".
[[nodiscard]] FieldAccess attention_access();

// Fields that are more than one member of a record.

/// The status of the timing, or "refused".
[[nodiscard]] FieldAccess graph_n_status_access();
/// "power_cap thermal".
[[nodiscard]] FieldAccess clock_events_access();
/// [round, microseconds] of each block, in the order of their rounds; JSON alone has it.
[[nodiscard]] FieldAccess blocks_access();
[[nodiscard]] FieldAccess graph_n_blocks_access();
/// Swept keys with their values as text, in the sweep's order.
[[nodiscard]] FieldAccess sweep_access();
/// Those of them that are numbers; computed.
[[nodiscard]] FieldAccess swept_numbers_access();
/// The requests by entry of the batch; JSON alone has them.
[[nodiscard]] FieldAccess groups_access();

// The fields that together are a record's outcome, to be read in this order. What no outcome can be
// (a time of a cell that was skipped) is a ConfigError.

[[nodiscard]] FieldAccess reason_access();
[[nodiscard]] FieldAccess verdict_access();
/// The median time, which a cell has that was timed.
[[nodiscard]] FieldAccess median_access();
[[nodiscard]] FieldAccess impossible_access();

}  // namespace attnbench
