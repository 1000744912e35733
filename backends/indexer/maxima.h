// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "lib/backend/backend.h"

namespace attnbench::indexer {

/// The largest q.k of each unit of keys (SelectionScore::kMax), on all threads of a CPU.
[[nodiscard]] std::unique_ptr<Plan> plan_maxima(const ForwardBatch& batch);

}  // namespace attnbench::indexer
