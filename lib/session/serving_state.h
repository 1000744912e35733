// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lib/backend/plan_memory.h"
#include "lib/fixture/fixture.h"

namespace attnbench {

/// The memory that is in the cache when an engine calls attention, in the order in which it was
/// written: the plan in its memory and the index arrays, once a step; the queries, by the layer's
/// projection just before. Keys and values are not in the cache: all other layers have read theirs
/// since. Addresses of the fixture's device; they live as long as both.
[[nodiscard]] std::vector<std::span<const std::byte>> serving_state(const Fixture& fixture,
                                                                    const PlanMemory& plan);

}  // namespace attnbench
