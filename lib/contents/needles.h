// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "lib/scenario/case.h"

namespace attnbench {

// Positions of planted keys (Fill::kNeedle), ascending.

/// Where kernels go wrong along a run of keys [begin, end): its ends, page ends, split ends.
[[nodiscard]] std::vector<std::int64_t> run_needles(std::int64_t begin, std::int64_t end,
                                                    std::int64_t page_size);

/// Needles of a request's own keys: a run's, plus the edges of the mask, the window and the chunk
/// of its first and last query. A needle at a new token is the diagonal of one row and forbidden to
/// the row before.
[[nodiscard]] std::vector<std::int64_t> request_needles(const Case& c, const Request& request);

}  // namespace attnbench
