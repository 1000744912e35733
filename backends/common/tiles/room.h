// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace attnbench::tiles {

/// What a plan takes up in memory for one KV head, or the most that any of several takes up.
struct Room {
  std::int64_t items = 0;
  std::int64_t tiles = 0;     ///< that are split
  std::int64_t partials = 0;  ///< results that wait for a merge
  std::int32_t partial_rows = 0;
};

[[nodiscard]] inline Room most_of(const Room& a, const Room& b) {
  return {std::max(a.items, b.items), std::max(a.tiles, b.tiles), std::max(a.partials, b.partials),
          std::max(a.partial_rows, b.partial_rows)};
}
[[nodiscard]] inline bool fits(const Room& plan, const Room& room) {
  return plan.items <= room.items && plan.tiles <= room.tiles && plan.partials <= room.partials &&
         plan.partial_rows <= room.partial_rows;
}

}  // namespace attnbench::tiles
