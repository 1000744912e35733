// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "lib/backend/plan_memory.h"
#include "lib/batch/device_batch.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {

/// The index tensors of a batch that a plan made of an engine's, copied to the device as it copies
/// those that it builds: request table, lengths and page table. The rest stays as it is in
/// `whole`, the engine's. `name` tells these arrays from others of the plan.
[[nodiscard]] DeviceBatch copy_made_indices(const ForwardBatch& made, const DeviceBatch& whole,
                                            std::string_view name, PlanMemory& memory);

}  // namespace attnbench
