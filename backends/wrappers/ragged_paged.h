// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/wrappers/merge_states.h"
#include "lib/backend/backend.h"

namespace attnbench {

/// Prompts as SGLang has FlashInfer compute them (flashinfer_backend.py, forward_extend), by
/// `kernels`: the new tokens attend to each other in the step's k_new and v_new, which lie side by
/// side, then all of them to the cached prefixes, page by page and without a mask; both are merged
/// by their LSEs. Without a prefix in the batch the pages are not read at all. A cache with scales
/// other than 1 holds other numbers than k_new and v_new, so that its pages are all that is read.
/// The backend, "paged_fa:ragged_paged", takes part only where it is named.
[[nodiscard]] std::unique_ptr<Backend> with_ragged_keys(std::unique_ptr<Backend> kernels,
                                                        MergeStates merge);

}  // namespace attnbench
