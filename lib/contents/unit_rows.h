// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "lib/batch/indexer_inputs.h"
#include "lib/contents/contents.h"

namespace attnbench {

// The representations of units that an indexer scores (Selection::scores_representations()), as a
// function of the case's contents. Requests with a common prefix have the same ones there.

/// Numbers that bf16 holds exactly: one row, or the bounds lo and hi of a unit's keys.
using UnitRows = std::array<std::array<float, IndexerInputs::kDim>, 2>;
[[nodiscard]] UnitRows unit_rows(const Contents& contents, std::int64_t request, std::int64_t unit,
                                 std::int64_t group);

/// Whether the unit was written after its representation was made. The same in all fills and
/// samples.
[[nodiscard]] bool is_stale(const Contents& contents, std::int64_t request, std::int64_t unit);

}  // namespace attnbench
