// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "lib/base/error.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {

/// Slots of tokens start .. start + len - 1 of request r.
[[nodiscard]] inline std::span<const std::int32_t> request_tokens(const ForwardBatch& batch,
                                                                  std::int64_t r,
                                                                  std::int64_t start,
                                                                  std::int64_t len) {
  expects(batch.req_to_token_pool != nullptr, "a batch without its req_to_token_pool");
  const auto row =
      batch.req_to_token_pool->row(batch.req_pool_indices[static_cast<std::size_t>(r)]);
  expects(start >= 0 && len >= 0 && start + len <= static_cast<std::int64_t>(row.size()),
          "a request is longer than its row in the pool");
  return row.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(len));
}

}  // namespace attnbench
