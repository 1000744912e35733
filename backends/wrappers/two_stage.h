// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/wrappers/merge_states.h"
#include "lib/backend/backend.h"

namespace attnbench {

/// Draft trees by `kernels` in two passes instead of under one mask, as SGLang's FlashAttention
/// backend verifies trees with branches: all nodes attend to the committed prefix without
/// causality, then each attends to the slots of the nodes that it sees, as a request of its own;
/// both are merged by their LSEs. The backend, "paged_fa:two_stage", takes part only where it is
/// named.
[[nodiscard]] std::unique_ptr<Backend> with_two_stages(std::unique_ptr<Backend> kernels,
                                                       MergeStates merge);

}  // namespace attnbench
