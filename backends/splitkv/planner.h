// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/common/tiles/items.h"

namespace attnbench::splitkv {

using tiles::Item;

/// Work of one launch: that of KV head 0, because every KV head has the same. A plan then costs the
/// host no more for more heads, neither time nor bytes to copy.
struct WorkPlan {
  bool many_rows = false;         ///< some tile has more than 16 rows, or could have
  std::vector<Item> items;        ///< the longest first
  std::int32_t tiles = 0;         ///< that were split and merge themselves
  std::int32_t partials = 0;      ///< results that wait for a merge
  std::int32_t partial_rows = 0;  ///< rows kept for each

  [[nodiscard]] tiles::Room room() const {
    return {static_cast<std::int64_t>(items.size()), tiles, partials, partial_rows};
  }
};

/// Cuts tiles of rows into pieces of their keys.
class Planner {
 public:
  explicit Planner(bool many_rows) { plan_.many_rows = many_rows; }

  [[nodiscard]] std::int64_t tile_rows() const;

  /// `tile` is an item over all its keys; a piece has at most `chunk` of them. The
  /// block that finishes last merges the pieces.
  void add(const Item& tile, std::int64_t chunk);
  /// The same of a tile whose keys meet other forms of its queries part by part.
  void add(std::span<const Item> parts, std::int64_t chunk);

  /// Results that another kernel merges: numbers [first, first + count).
  struct Pieces {
    std::int32_t first = 0;
    std::int32_t count = 0;
  };
  Pieces add_unmerged(const Item& tile, std::int64_t chunk);

  [[nodiscard]] WorkPlan finish() &&;

 private:
  WorkPlan plan_;  // in the order of addition
};

/// Keys per piece of each of `tiles` in equal shares of the work of all KV heads. Where these leave
/// a last round of blocks mostly empty, the shortest tiles are cut further, to fill it: 34 tiles on
/// 33 blocks would take as long as 66. tiles::EqualShares::most_further_pieces() holds for them,
/// too.
[[nodiscard]] std::vector<std::int64_t> chunks_in_full_rounds(const std::vector<Item>& tiles,
                                                              int heads_kv, int multiprocessors);

}  // namespace attnbench::splitkv
