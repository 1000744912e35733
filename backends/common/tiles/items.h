// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/base/int_math.h"
#include "lib/base/narrow.h"

// Work lists of kernels: an item, the room that a list takes, and how tiles are cut into items.
namespace attnbench::tiles {

/// What one thread block per KV head computes: a tile of rows over keys [key_begin, key_end). Rows
/// of a request that share a KV head are counted token * group_size + head within the group. The
/// request's entries of kv_indptr and qo_indptr come along: reading them first would put one more
/// trip to memory before the first key.
struct alignas(16) Item {
  std::int32_t request = 0;
  std::int32_t kv_begin = 0;  ///< kv_indptr[request]
  std::int32_t kv_len = 0;
  std::int32_t q_begin = 0;  ///< qo_indptr[request]
  std::int32_t q_len = 0;
  std::int32_t kv_head = 0;  ///< 0 in a list; a block fills in its own
  std::int32_t row_begin = 0;
  std::int32_t rows = 0;
  std::int32_t key_begin = 0;
  std::int32_t key_end = 0;
  std::int32_t splits = 1;   ///< pieces that this tile's keys were cut into; 0: merged elsewhere
  std::int32_t tile = 0;     ///< among the tiles that were split: which counter
  std::int32_t partial = 0;  ///< where this piece's result waits for the merge
  std::int32_t first_partial = 0;  ///< of the tile's first piece
  std::int32_t variant = 0;        ///< form of the queries that these keys meet (VariantKeys)
  /// Of chosen keys, among those of all tokens and KV heads that have their own; -1: all keys. The
  /// host plans lists as long as they can be, item_at() cuts the item where its own ends.
  std::int32_t list = -1;
};

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

// Items of a work list, whatever else they hold: rows over keys [key_begin, key_end), partial the
// number under which the result waits if another block merges it.

template <class AnyItem>
[[nodiscard]] std::int64_t keys_of(const AnyItem& item) {
  return std::int64_t{item.key_end} - item.key_begin;
}
/// Of all of them.
template <class AnyItem>
[[nodiscard]] std::int64_t keys_of(const std::vector<AnyItem>& items) {
  std::int64_t keys = 0;
  for (const AnyItem& item : items) keys += keys_of(item);
  return keys;
}

/// Pieces of a tile of `keys` keys, at most `chunk` each. A tile without keys is one piece.
[[nodiscard]] inline std::int64_t pieces_of(std::int64_t keys, std::int64_t chunk) {
  return keys > chunk ? ceil_div(keys, chunk) : 1;
}

/// Appends a tile's pieces of at most `chunk` keys, whose results are numbered from `partials` on,
/// and counts them there.
template <class AnyItem>
void append_pieces(std::vector<AnyItem>& items, const AnyItem& tile, std::int64_t chunk,
                   std::int32_t& partials) {
  const std::int64_t begin = tile.key_begin, end = tile.key_end;
  const std::int64_t pieces = pieces_of(end - begin, chunk);
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    AnyItem& item = items.emplace_back(tile);
    item.key_begin = narrow_i32(begin + piece * chunk);
    item.key_end = narrow_i32(std::min(end, begin + (piece + 1) * chunk));
    item.partial = partials++;
  }
}

/// Places in `items`, the one with most keys first: the last blocks' finishing times stay close.
/// Items with as many keys keep their order.
template <class AnyItem>
[[nodiscard]] std::vector<std::uint32_t> longest_first(const std::vector<AnyItem>& items) {
  std::vector<std::uint64_t> keyed;  // keys counted down, then the place
  keyed.reserve(items.size());
  for (const AnyItem& item : items) {
    const auto fewer = ~static_cast<std::uint32_t>(keys_of(item));
    keyed.push_back((std::uint64_t{fewer} << 32) | keyed.size());
  }
  if (!std::ranges::is_sorted(keyed)) std::ranges::sort(keyed);
  std::vector<std::uint32_t> places;
  places.reserve(keyed.size());
  for (const std::uint64_t each : keyed) places.push_back(static_cast<std::uint32_t>(each));
  return places;
}

/// `items` in this order.
template <class AnyItem>
[[nodiscard]] std::vector<AnyItem> sorted_longest_first(const std::vector<AnyItem>& items) {
  std::vector<AnyItem> sorted;
  sorted.reserve(items.size());
  for (const std::uint32_t place : longest_first(items)) sorted.push_back(items[place]);
  return sorted;
}

}  // namespace attnbench::tiles
