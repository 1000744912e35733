// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/common/merge_states.h"
#include "lib/backend/backend.h"

// Multi-item scoring by kernels that know no items. All tokens from the first delimiter on see the
// keys before it, in a pass without a mask; then each item is a causal request of its own, whose
// delimiter stands before its first key and sees nothing. What items hide from each other is not
// even read, as in FlashInfer's kernel, which skips such tiles (prefill.cuh).
namespace attnbench {

/// Whether `kernels` can compute a problem with items so. They are asked for one without items.
[[nodiscard]] Support supports_items_in_passes(const Backend& kernels, const Problem& problem);

/// Where they round then.
[[nodiscard]] Numerics numerics_of_items(const Backend& kernels, const Problem& problem);

/// The plan of a batch with items.
[[nodiscard]] std::unique_ptr<Plan> plan_items(Backend& kernels, const ForwardBatch& batch,
                                               MergeStates merge, PlanMemory& memory);

}  // namespace attnbench
