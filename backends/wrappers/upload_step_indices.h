// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "lib/backend/plan_memory.h"
#include "lib/batch/device_batch.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {

/// The index tensors of a batch that a plan made of `whole`, copied to the device: request table,
/// unless it is that of `whole`, its rows, and lengths. There is no block table, since kernels
/// build the page tables that they read, and the rest is as in `whole`. `name` tells these arrays
/// from others of the plan. Throws InternalError where `whole` has no index tensors.
[[nodiscard]] DeviceBatch upload_step_indices(const ForwardBatch& made, const ForwardBatch& whole,
                                              std::string_view name, PlanMemory& memory);

/// The same of a step that a plan goes on to, in the order of `stream` and in the memory of its
/// first step, which must have had as many requests and as wide a table.
[[nodiscard]] DeviceBatch upload_step_indices(const ForwardBatch& made, const ForwardBatch& whole,
                                              std::string_view name, PlanMemory& memory,
                                              Stream& stream);

}  // namespace attnbench
