// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "lib/backend/backend.h"

namespace attnbench::indexer {

/// The score of each unit's representation (SelectionScore::kGroup, kHead, kBounds), -inf where it
/// is stale, on all threads of a CPU.
[[nodiscard]] std::unique_ptr<Plan> plan_representations(const ForwardBatch& batch);

}  // namespace attnbench::indexer
