// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/batch/problem.h"
#include "lib/scenario/case.h"

namespace attnbench {

struct MeasureConfig;

/// Case::graph_bucket: the smallest bucket that holds the case's requests, 0 where there is none or
/// an engine would not pad such a step.
[[nodiscard]] std::int64_t graph_bucket_of(const Case& c, const MeasureConfig& measure);

/// Whether an engine with these buckets would run the case eagerly, because its batch is larger
/// than all of them.
[[nodiscard]] bool exceeds_graph_buckets(const Case& c, const MeasureConfig& measure);

/// The case's cache; NHD where its layout is left to backends.
[[nodiscard]] CacheFormat cache_format_of(const Case& c);

/// What a case asks of a backend. The limits are the case's own step.
[[nodiscard]] Problem problem_of(const Case& c);

/// The same, recorded for the case's bucket, or for its own number of requests, and for requests of
/// up to `max_kv_len` keys: the length that an engine's page tables have room for.
[[nodiscard]] Problem recorded_problem_of(const Case& c, std::int64_t max_kv_len);

}  // namespace attnbench
