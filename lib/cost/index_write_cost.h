// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cost/cost.h"

namespace attnbench {

/// The cost of StepPart::kIndexWrite: each new key and its slot are read, and a row of the
/// indexer's cache is written.
[[nodiscard]] Cost index_write_cost(const Case& c);

/// Adds the write to what the other stages of a layer cost. The rows that it leaves are among those
/// that the indexer reads.
void add_index_write(const Case& c, Cost& cost);

}  // namespace attnbench
