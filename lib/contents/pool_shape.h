// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/batch/pool_shape.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// The rows that a step that writes_index() writes: those of an indexer's cache, or under
/// StepPart::kCompress the compressed rows of the layer.
[[nodiscard]] PoolShape pool_shape(const Case& c);

}  // namespace attnbench
