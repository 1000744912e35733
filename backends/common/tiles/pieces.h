// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/base/int_math.h"
#include "lib/base/narrow.h"

// Items of a work list, whatever else they hold: rows over keys [key_begin, key_end), partial the
// number under which the result waits if another block merges it.
namespace attnbench::tiles {

template <class Item>
[[nodiscard]] std::int64_t keys_of(const Item& item) {
  return std::int64_t{item.key_end} - item.key_begin;
}
/// Of all of them.
template <class Item>
[[nodiscard]] std::int64_t keys_of(const std::vector<Item>& items) {
  std::int64_t keys = 0;
  for (const Item& item : items) keys += keys_of(item);
  return keys;
}

/// Pieces of a tile of `keys` keys, at most `chunk` each. A tile without keys is one piece.
[[nodiscard]] inline std::int64_t pieces_of(std::int64_t keys, std::int64_t chunk) {
  return keys > chunk ? ceil_div(keys, chunk) : 1;
}

/// Appends a tile's pieces of at most `chunk` keys, whose results are numbered from `partials` on,
/// and counts them there.
template <class Item>
void append_pieces(std::vector<Item>& items, const Item& tile, std::int64_t chunk,
                   std::int32_t& partials) {
  const std::int64_t begin = tile.key_begin, end = tile.key_end;
  const std::int64_t pieces = pieces_of(end - begin, chunk);
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    Item& item = items.emplace_back(tile);
    item.key_begin = narrow_i32(begin + piece * chunk);
    item.key_end = narrow_i32(std::min(end, begin + (piece + 1) * chunk));
    item.partial = partials++;
  }
}

/// Places in `items`, the one with most keys first: the last blocks' finishing times stay close.
/// Items with as many keys keep their order.
template <class Item>
[[nodiscard]] std::vector<std::uint32_t> longest_first(const std::vector<Item>& items) {
  std::vector<std::uint64_t> keyed;  // keys counted down, then the place
  keyed.reserve(items.size());
  for (const Item& item : items) {
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
template <class Item>
[[nodiscard]] std::vector<Item> sorted_longest_first(const std::vector<Item>& items) {
  std::vector<Item> sorted;
  sorted.reserve(items.size());
  for (const std::uint32_t place : longest_first(items)) sorted.push_back(items[place]);
  return sorted;
}

}  // namespace attnbench::tiles
