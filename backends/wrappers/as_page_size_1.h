// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/batch/cache_format.h"
#include "lib/batch/kv_pool.h"

// A cache in pages of one token, for kernels that read pages where the keys of a pass begin and end
// anywhere among them.
namespace attnbench {

/// Whether the rows of all slots lie evenly spaced, so that a page may be as small as a token.
[[nodiscard]] bool has_linear_slots(const CacheFormat& cache);
/// The refusal where they do not.
[[nodiscard]] std::string no_linear_slots_reason(const CacheFormat& cache);

/// The same slots in pages of one token; as it is where they do not lie so.
[[nodiscard]] CacheFormat as_page_size_1(CacheFormat cache);
[[nodiscard]] KvPool as_page_size_1(KvPool pool);

}  // namespace attnbench
