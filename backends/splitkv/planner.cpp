// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/splitkv/planner.h"

#include <algorithm>
#include <utility>

#include "backends/common/tiles/items.h"
#include "backends/common/tiles/key_shares.h"
#include "backends/splitkv/launch.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"

namespace attnbench::splitkv {
namespace {

/// Beyond this many rounds of blocks, a last one that is mostly empty costs little.
constexpr std::int64_t kMostRounds = 4;
/// Shorter tiles are done before their pieces would be merged.
constexpr std::int64_t kLeastLastRoundKeys = 1024;

}  // namespace

std::int64_t Planner::tile_rows() const { return plan_.many_rows ? kManyRows : kFewRows; }

void Planner::add(const Item& tile, std::int64_t chunk) { add({&tile, 1}, chunk); }

void Planner::add(std::span<const Item> parts, std::int64_t chunk) {
  std::int64_t pieces = 0;
  for (const Item& part : parts) pieces += tiles::pieces_of(keys_of(part), chunk);
  if (pieces == 1) {
    plan_.items.push_back(parts.front());
    return;
  }
  const std::int32_t tile = plan_.tiles++, first = plan_.partials;
  for (Item item : parts) {
    item.splits = narrow_i32(pieces);
    item.tile = tile;
    item.first_partial = first;
    plan_.partial_rows = std::max(plan_.partial_rows, item.rows);
    tiles::append_pieces(plan_.items, item, chunk, plan_.partials);
  }
}

Planner::Pieces Planner::add_unmerged(const Item& tile, std::int64_t chunk) {
  Item item = tile;
  item.splits = 0;
  item.first_partial = plan_.partials;
  plan_.partial_rows = std::max(plan_.partial_rows, item.rows);
  tiles::append_pieces(plan_.items, item, chunk, plan_.partials);
  return {item.first_partial, plan_.partials - item.first_partial};
}

WorkPlan Planner::finish() && {
  WorkPlan plan = std::move(plan_);
  plan.items = tiles::sorted_longest_first(plan.items);
  return plan;
}

std::vector<std::int64_t> chunks_in_full_rounds(const std::vector<Item>& tiles, int heads_kv,
                                                int multiprocessors) {
  const tiles::EqualShares shares(keys_of(tiles) * heads_kv, tiles::blocks_of(multiprocessors));
  std::vector<std::int64_t> chunks;
  chunks.reserve(tiles.size());
  for (const Item& tile : tiles) chunks.push_back(shares.chunk(keys_of(tile)));

  const std::int64_t blocks = tiles::blocks_of(multiprocessors) / heads_kv;  // of one KV head
  std::int64_t pieces = 0;
  for (std::size_t i = 0; i < tiles.size(); ++i)
    pieces += tiles::pieces_of(keys_of(tiles[i]), chunks[i]);
  if (blocks == 0 || pieces < blocks || pieces >= kMostRounds * blocks) return chunks;
  const std::int64_t last_round = pieces % blocks;
  if (last_round == 0 || 2 * last_round >= blocks) return chunks;

  // The shortest tiles that have that many pieces; all others keep theirs.
  const std::vector<std::uint32_t> order = longest_first(tiles);
  std::size_t first = order.size();
  std::int64_t kept = pieces, keys = 0;
  while (pieces - kept < last_round) {
    const std::size_t i = order[--first];
    kept -= tiles::pieces_of(keys_of(tiles[i]), chunks[i]);
    keys += keys_of(tiles[i]);
  }
  const std::int64_t further = blocks - (kept - static_cast<std::int64_t>(first));
  if (further <= 0 || keys_of(tiles[order[first]]) < kLeastLastRoundKeys) return chunks;
  const tiles::EqualShares last_shares(keys, further);
  for (std::size_t place = first; place < order.size(); ++place) {
    const std::size_t i = order[place];
    chunks[i] = std::min(chunks[i], last_shares.chunk(keys_of(tiles[i])));
  }
  return chunks;
}

}  // namespace attnbench::splitkv
