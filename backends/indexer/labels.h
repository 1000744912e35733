// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "lib/backend/backend.h"

namespace attnbench::indexer {

/// The score of each key's label (SelectionScore::kChannels), on all threads of a CPU.
[[nodiscard]] std::unique_ptr<Plan> plan_labels(const ForwardBatch& batch);

}  // namespace attnbench::indexer
