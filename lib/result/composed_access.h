// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/result/field_access.h"

namespace attnbench {

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

}  // namespace attnbench
