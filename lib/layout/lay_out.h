// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/batch/forward_batch.h"
#include "lib/batch/req_to_token_pool.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// The index side of a fixture: which request owns which slot. No tensor memory.
struct BatchLayout {
  ReqToTokenPool req_to_token_pool;
  ForwardBatch batch;          ///< without pools, problem and tensors
  std::int64_t num_pages = 0;  ///< of the KV pool, dummy page 0 included
};

/// Rows of the request table besides those in use, so that a request's row does not follow from
/// another's.
inline constexpr std::int64_t kSpareRequestRows = 3;

/// Slots of a pool of states besides the requests' own and the dummy. No request owns them, and
/// they hold poison.
inline constexpr std::int64_t kSpareStateSlots = 3;

/// Runs the allocators for a case: shared prefixes as a radix cache has them, then each request,
/// placed as the case says. `placement_salt` gives another permutation of the same pages
/// (page-permutation test). Throws ConfigError when pool_tokens is too small, with both figures.
[[nodiscard]] BatchLayout lay_out(const Case& c, std::uint64_t placement_salt = 0);

}  // namespace attnbench
