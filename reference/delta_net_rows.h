// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/oracle.h"

namespace attnbench::reference {

// The recurrent family behind the functions of oracle.h and memory_need.h.

/// Runs each (request, value head) of `rows` once through its tokens, as far as they ask; through
/// those that branches of a draft tree have in common once for each branch.
[[nodiscard]] std::vector<ReferenceRow> evaluate_delta_net_rows(const Case& c,
                                                                const Contents& contents,
                                                                std::span<const RowId> rows);

/// A run costs all tokens of its request, so few value heads of a request are met, in rotation over
/// the requests. Of each: its first and last token, the ends of chunks of 64 (what chunked kernels
/// take at a time), the first that begins another branch of a draft tree, seeded others, and rows
/// of its state after the step.
[[nodiscard]] std::vector<RowId> sample_delta_net_rows(const Case& c, std::int64_t budget);

[[nodiscard]] std::int64_t delta_net_memory_need(const Case& c, int threads);

}  // namespace attnbench::reference
