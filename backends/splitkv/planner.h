// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "backends/splitkv/work_list.h"

namespace attnbench::splitkv {

/// What a plan takes up in memory for one KV head, or the most that any of several takes up.
struct Room {
  std::int64_t items = 0;
  std::int64_t tiles = 0;
  std::int64_t partials = 0;
  std::int32_t partial_rows = 0;
};
[[nodiscard]] Room most_of(const Room& a, const Room& b);

/// Work of one launch: that of KV head 0, because every KV head has the same. A plan then costs the
/// host no more for more heads, neither time nor bytes to copy.
struct WorkPlan {
  bool many_rows = false;         ///< some tile has more than 16 rows, or could have
  std::vector<Item> items;        ///< the longest first
  std::int32_t tiles = 0;         ///< that were split and merge themselves
  std::int32_t partials = 0;      ///< results that wait for a merge
  std::int32_t partial_rows = 0;  ///< rows kept for each

  [[nodiscard]] Room room() const {
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

  /// Results that another kernel merges: numbers [first, first + count).
  struct Pieces {
    std::int32_t first = 0;
    std::int32_t count = 0;
  };
  Pieces add_unmerged(const Item& tile, std::int64_t chunk);

  [[nodiscard]] WorkPlan finish() &&;

 private:
  Pieces add_pieces(Item item, std::int64_t chunk);

  WorkPlan plan_;  // in the order of addition
};

/// Keys of a tile and of several.
[[nodiscard]] inline std::int64_t keys_of(const Item& item) {
  return std::int64_t{item.key_end} - item.key_begin;
}
[[nodiscard]] std::int64_t keys_of(const std::vector<Item>& tiles);

/// Whether requests of more than 16 rows should be cut into tiles of 16 nevertheless, judged by
/// their tiles of 64. Each tile reads its keys anew, but where there is little to read, more blocks
/// with less to merge are done sooner.
class SmallTiles {
 public:
  explicit SmallTiles(int multiprocessors);
  void add(const Item& tile);
  [[nodiscard]] bool are_better(int heads_kv) const;

  /// The most tiles of one KV head with which they are.
  [[nodiscard]] static std::int64_t most_tiles(int heads_kv, int multiprocessors);

 private:
  int multiprocessors_;
  std::int64_t tiles_ = 0, keys_ = 0;
};

/// Pieces of about equal work, as many as fill a GPU.
class EqualShares {
 public:
  /// For `keys` keys, all tiles of all heads.
  EqualShares(std::int64_t keys, int multiprocessors);
  /// Keys of each piece of a tile that has `keys`.
  [[nodiscard]] std::int64_t chunk(std::int64_t keys) const;

  /// Whatever the work: pieces of those tiles that are cut, and how many more pieces than tiles.
  [[nodiscard]] static std::int64_t most_partials(int multiprocessors);
  [[nodiscard]] static std::int64_t most_further_pieces(int multiprocessors);

 private:
  std::int64_t share_;
};

/// Keys per piece of each of `tiles` in equal shares of the work of all KV heads. Where these leave
/// a last round of blocks mostly empty, the shortest tiles are cut further, to fill it: 34 tiles on
/// 33 blocks would take as long as 66. EqualShares::most_further_pieces() holds for them, too.
[[nodiscard]] std::vector<std::int64_t> chunks_in_full_rounds(const std::vector<Item>& tiles,
                                                              int heads_kv, int multiprocessors);
}  // namespace attnbench::splitkv
