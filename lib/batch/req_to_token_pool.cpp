// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/req_to_token_pool.h"

#include <algorithm>

#include "lib/base/error.h"

namespace attnbench {

ReqToTokenPool::ReqToTokenPool(std::int64_t size, std::int64_t max_context_len)
    : rows_(size + 1),
      max_context_len_(max_context_len),
      slots_(static_cast<std::size_t>(rows_ * max_context_len), kInvalidSlot) {
  std::ranges::fill(row(0), 0);
}

std::span<std::int32_t> ReqToTokenPool::row(std::int64_t index) {
  expects(index >= 0 && index < rows_, "request row outside the pool");
  return std::span(slots_).subspan(static_cast<std::size_t>(index * max_context_len_),
                                   static_cast<std::size_t>(max_context_len_));
}

std::span<const std::int32_t> ReqToTokenPool::row(std::int64_t index) const {
  expects(index >= 0 && index < rows_, "request row outside the pool");
  return std::span(slots_).subspan(static_cast<std::size_t>(index * max_context_len_),
                                   static_cast<std::size_t>(max_context_len_));
}

}  // namespace attnbench
