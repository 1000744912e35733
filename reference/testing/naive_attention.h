// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "reference/oracle.h"

namespace attnbench::reference {

/// A second implementation of the reference, written to share nothing with the first but the case
/// and its contents: one row at a time, key by key, online softmax in long double, the mask asked
/// for each pair.
[[nodiscard]] ReferenceRow naive_row(const Case& c, const Contents& contents, const RowId& id);

/// The mask by its definition, pair by pair: how often the key takes part, 0 where it is hidden.
[[nodiscard]] std::int64_t naive_times_seen(const Case& c, const Request& request,
                                            std::int64_t token, std::int64_t key, int head);

}  // namespace attnbench::reference
