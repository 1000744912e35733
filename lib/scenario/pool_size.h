// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace attnbench {

/// Pages of a pool whose size the case leaves open, without the padding's: what the batch needs,
/// and an eighth, at least four, that no request owns.
[[nodiscard]] constexpr std::int64_t roomy_pool_pages(std::int64_t needed) {
  return needed + std::max(std::int64_t{4}, needed / 8);
}

}  // namespace attnbench
