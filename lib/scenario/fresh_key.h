// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/scenario/case.h"

namespace attnbench {

/// Which key of a request timed samples replace: one of its own (a shared prefix also belongs to
/// other requests) that its last query sees, and every query where the mask lets it; drawn from
/// `stream`. -1 when there is none.
[[nodiscard]] std::int64_t fresh_position(const Case& c, const Request& request,
                                          std::uint64_t stream);

/// Size per dim that gives that key about half of the last query's weight, so that a result without
/// it is far off. The other keys' logits are normal numbers of variance v, the sum of whose
/// exponentials is about L exp(v / 2), or exp(sqrt(2 v ln L)) where the largest one decides.
[[nodiscard]] float fresh_key_size(const Case& c, const Request& request);

}  // namespace attnbench
