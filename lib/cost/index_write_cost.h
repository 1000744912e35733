// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/cost/cost.h"

namespace attnbench {

/// The cost of StepPart::kIndexWrite: each new key and its slot are read, and a row of the
/// indexer's cache is written. Of pools each new key and gate and both its slots are read; the keys
/// that waited for a pool that is closed, and a row of the cache is written for it; and a row of
/// the ring for each key that waits.
[[nodiscard]] Cost index_write_cost(const Case& c);

/// Adds the write to what the other stages of a layer cost. The rows that it leaves are among those
/// that the indexer reads.
void add_index_write(const Case& c, Cost& cost);

}  // namespace attnbench
