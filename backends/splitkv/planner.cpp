// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/splitkv/planner.h"

#include <algorithm>
#include <utility>

#include "backends/splitkv/launch.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"

namespace attnbench::splitkv {
namespace {

/// Keys of a piece are a multiple of this: what the warps of a block take in one round.
constexpr std::int64_t kRoundKeys = 64;
/// Below this a piece is more start and merge than work.
constexpr std::int64_t kLeastKeys = 256;
/// Up to here, reading keys for four tiles of 16 rows takes no longer than one tile of 64 takes to
/// merge (H200: even at 1000).
constexpr std::int64_t kMostSmallTileKeys = 768;
/// Blocks that one multiprocessor holds at a time.
constexpr std::int64_t kBlocksPerMultiprocessor = 2;

/// Beyond this many rounds of blocks, a last one that is mostly empty costs little.
constexpr std::int64_t kMostRounds = 4;
/// Shorter tiles are done before their pieces would be merged.
constexpr std::int64_t kLeastLastRoundKeys = 1024;

constexpr std::int64_t blocks_of(int multiprocessors) {
  return std::max(1, multiprocessors) * kBlocksPerMultiprocessor;
}

/// Pieces of a tile of `keys` keys, at most `chunk` each.
std::int64_t pieces_of(std::int64_t keys, std::int64_t chunk) {
  return keys > chunk ? ceil_div(keys, chunk) : 1;
}

/// Keys of each piece, if that is to be about `share`.
std::int64_t chunk_of(std::int64_t keys, std::int64_t share) {
  const std::int64_t pieces = std::max<std::int64_t>(1, (keys + share / 2) / share);
  return std::max(kRoundKeys, round_up(ceil_div(keys, pieces), kRoundKeys));
}

/// Places in `items`, the one with most keys first: the last blocks' finishing times stay close.
std::vector<std::uint32_t> longest_first(const std::vector<Item>& items) {
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

}  // namespace

std::int64_t Planner::tile_rows() const { return plan_.many_rows ? kManyRows : kFewRows; }

Planner::Pieces Planner::add_pieces(Item item, std::int64_t chunk) {
  const std::int64_t begin = item.key_begin, end = item.key_end;
  const Pieces pieces{plan_.partials, narrow_i32(pieces_of(end - begin, chunk))};
  item.first_partial = pieces.first;
  plan_.partial_rows = std::max(plan_.partial_rows, item.rows);
  for (std::int64_t piece = 0; piece < pieces.count; ++piece) {
    item.key_begin = narrow_i32(begin + piece * chunk);
    item.key_end = narrow_i32(std::min(end, begin + (piece + 1) * chunk));
    item.partial = plan_.partials++;
    plan_.items.push_back(item);
  }
  return pieces;
}

void Planner::add(const Item& tile, std::int64_t chunk) {
  if (keys_of(tile) <= chunk) {
    plan_.items.push_back(tile);
    return;
  }
  Item item = tile;
  item.splits = narrow_i32(ceil_div(keys_of(tile), chunk));
  item.tile = plan_.tiles++;
  add_pieces(item, chunk);
}

Planner::Pieces Planner::add_unmerged(const Item& tile, std::int64_t chunk) {
  Item item = tile;
  item.splits = 0;
  return add_pieces(item, chunk);
}

WorkPlan Planner::finish() && {
  WorkPlan plan = std::move(plan_);
  const std::vector<Item> added = std::move(plan.items);
  plan.items = {};
  plan.items.reserve(added.size());
  for (const std::uint32_t place : longest_first(added)) plan.items.push_back(added[place]);
  return plan;
}

std::int64_t keys_of(const std::vector<Item>& tiles) {
  std::int64_t keys = 0;
  for (const Item& tile : tiles) keys += keys_of(tile);
  return keys;
}

SmallTiles::SmallTiles(int multiprocessors) : multiprocessors_(multiprocessors) {}

void SmallTiles::add(const Item& tile) {
  const std::int64_t tiles = ceil_div(tile.rows, kFewRows);
  tiles_ += tiles;
  keys_ += tiles * keys_of(tile);
}

bool SmallTiles::are_better(int heads_kv) const {
  return tiles_ <= most_tiles(heads_kv, multiprocessors_) &&
         keys_ * heads_kv <= kMostSmallTileKeys * blocks_of(multiprocessors_);
}

std::int64_t SmallTiles::most_tiles(int heads_kv, int multiprocessors) {
  return blocks_of(multiprocessors) / heads_kv;
}

EqualShares::EqualShares(std::int64_t keys, int multiprocessors)
    : share_(std::max(kLeastKeys, ceil_div(keys, blocks_of(multiprocessors)))) {}

std::int64_t EqualShares::chunk(std::int64_t keys) const { return chunk_of(keys, share_); }

// A tile of x shares has max(1, floor(x + 1/2)) pieces or fewer, and all tiles have as many shares
// as there are blocks: pieces beyond the first are fewer than x, and where there are two or more
// (x >= 3/2), all of them are at most 4/3 x.
std::int64_t EqualShares::most_partials(int multiprocessors) {
  return ceil_div(4 * blocks_of(multiprocessors), std::int64_t{3});
}

std::int64_t EqualShares::most_further_pieces(int multiprocessors) {
  return blocks_of(multiprocessors);
}

std::vector<std::int64_t> chunks_in_full_rounds(const std::vector<Item>& tiles, int heads_kv,
                                                int multiprocessors) {
  const EqualShares shares(keys_of(tiles) * heads_kv, multiprocessors);
  std::vector<std::int64_t> chunks;
  chunks.reserve(tiles.size());
  for (const Item& tile : tiles) chunks.push_back(shares.chunk(keys_of(tile)));

  const std::int64_t blocks = blocks_of(multiprocessors) / heads_kv;  // of one KV head
  std::int64_t pieces = 0;
  for (std::size_t i = 0; i < tiles.size(); ++i) pieces += pieces_of(keys_of(tiles[i]), chunks[i]);
  if (blocks == 0 || pieces < blocks || pieces >= kMostRounds * blocks) return chunks;
  const std::int64_t last_round = pieces % blocks;
  if (last_round == 0 || 2 * last_round >= blocks) return chunks;

  // The shortest tiles that have that many pieces; all others keep theirs.
  const std::vector<std::uint32_t> order = longest_first(tiles);
  std::size_t first = order.size();
  std::int64_t kept = pieces, keys = 0;
  while (pieces - kept < last_round) {
    const std::size_t i = order[--first];
    kept -= pieces_of(keys_of(tiles[i]), chunks[i]);
    keys += keys_of(tiles[i]);
  }
  const std::int64_t further = blocks - (kept - static_cast<std::int64_t>(first));
  if (further <= 0 || keys_of(tiles[order[first]]) < kLeastLastRoundKeys) return chunks;
  const std::int64_t share = std::max(kLeastKeys, ceil_div(keys, further));
  for (std::size_t place = first; place < order.size(); ++place) {
    const std::size_t i = order[place];
    chunks[i] = std::min(chunks[i], chunk_of(keys_of(tiles[i]), share));
  }
  return chunks;
}

Room most_of(const Room& a, const Room& b) {
  return {std::max(a.items, b.items), std::max(a.tiles, b.tiles), std::max(a.partials, b.partials),
          std::max(a.partial_rows, b.partial_rows)};
}

}  // namespace attnbench::splitkv
