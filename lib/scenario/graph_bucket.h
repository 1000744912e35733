// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/scenario/scenario.h"

namespace attnbench {

/// Case::graph_bucket: the smallest bucket that holds the case's requests, 0 where there is none or
/// an engine would not pad such a step.
[[nodiscard]] std::int64_t graph_bucket_of(const Case& c, const MeasureConfig& measure);

/// Whether an engine with these buckets would run the case eagerly, because its batch is larger
/// than all of them.
[[nodiscard]] bool exceeds_graph_buckets(const Case& c, const MeasureConfig& measure);

}  // namespace attnbench
