// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/batch/problem.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// The case's cache; NHD where its layout is left to backends.
[[nodiscard]] CacheFormat cache_format_of(const Case& c);

/// What a case asks of a backend. The limits are the case's own step.
[[nodiscard]] Problem problem_of(const Case& c);

/// The same, recorded for the case's bucket, or for its own number of requests, and for requests of
/// up to `max_kv_len` keys: the length that an engine's page tables have room for.
[[nodiscard]] Problem recorded_problem_of(const Case& c, std::int64_t max_kv_len);

}  // namespace attnbench
