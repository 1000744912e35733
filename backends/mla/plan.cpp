// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/mla/plan.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "backends/common/tiles/items.h"
#include "backends/common/tiles/key_shares.h"
#include "backends/common/tiles/tiles.h"
#include "backends/common/visibility.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"

namespace attnbench::mla {
namespace {

/// Rows of one block of warpgroups.
constexpr std::int64_t kRows = 64;
/// Keys that a block of a part takes at a time.
constexpr std::int64_t kStepKeys = 128;

int parts_of(int lanes, int multiprocessors) { return std::max(1, multiprocessors / lanes); }

/// `tile` waits in `splits` pieces, the first of them `first_partial`.
void add_merge(WorkPlan& plan, const Item& tile, std::int32_t splits, std::int32_t first_partial) {
  Item& merge = plan.merges.emplace_back(tile);
  merge.splits = splits;
  merge.first_partial = first_partial;
  plan.partial_rows = std::max(plan.partial_rows, tile.rows);
}

WorkPlan plan_parts(const std::vector<Item>& tiles, int lanes, int multiprocessors) {
  std::vector<std::int64_t> steps;
  steps.reserve(tiles.size());
  for (const Item& tile : tiles) {
    steps.push_back(std::max<std::int64_t>(1, ceil_div(keys_of(tile), kStepKeys)));
  }
  const Schedule schedule =
      make_schedule(steps, static_cast<std::size_t>(parts_of(lanes, multiprocessors)));

  WorkPlan plan;
  plan.lanes = lanes;
  std::vector<std::int32_t> splits(tiles.size(), 0), partial(tiles.size(), 0);
  for (const Piece& piece : schedule.pieces) ++splits[piece.tile];
  for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
    if (splits[tile] == 1) continue;
    partial[tile] = plan.partials;
    add_merge(plan, tiles[tile], splits[tile], plan.partials);
    plan.partials += splits[tile];
  }
  plan.items.reserve(schedule.pieces.size());
  for (const Piece& piece : schedule.pieces) {
    Item& item = plan.items.emplace_back(tiles[piece.tile]);
    if (splits[piece.tile] == 1) continue;
    const std::int64_t begin = item.key_begin, end = item.key_end;
    item.key_begin = narrow_i32(begin + piece.begin * kStepKeys);
    item.key_end = narrow_i32(std::min(end, begin + piece.end * kStepKeys));
    item.splits = splits[piece.tile];
    item.partial = partial[piece.tile]++;
  }
  plan.part_begin.reserve(schedule.part_begin.size());
  for (const std::size_t begin : schedule.part_begin) {
    plan.part_begin.push_back(narrow_i32(static_cast<std::int64_t>(begin)));
  }
  return plan;
}

WorkPlan plan_blocks(const std::vector<Item>& tiles, int multiprocessors) {
  WorkPlan plan;
  plan.part_begin = {0};
  const tiles::EqualShares shares(keys_of(tiles), tiles::blocks_of(multiprocessors));
  for (const Item& tile : tiles) {
    const std::int64_t chunk = shares.chunk(keys_of(tile));
    if (keys_of(tile) <= chunk) {
      plan.items.push_back(tile);
      continue;
    }
    const std::int32_t first_partial = plan.partials;
    Item item = tile;
    item.splits = 0;  // none of the pieces merges
    tiles::append_pieces(plan.items, item, chunk, plan.partials);
    add_merge(plan, tile, plan.partials - first_partial, first_partial);
  }
  plan.items = tiles::sorted_longest_first(plan.items);
  return plan;
}

}  // namespace

Room most_of(const Room& a, const Room& b) {
  return {std::max(a.items, b.items), std::max(a.parts, b.parts), std::max(a.merges, b.merges),
          std::max(a.partials, b.partials), std::max(a.partial_rows, b.partial_rows)};
}

Room WorkPlan::room() const {
  return {std::ssize(items), std::ssize(part_begin) - 1, std::ssize(merges), partials,
          partial_rows};
}

int lanes_of(const ForwardBatch& batch, const AttentionLayer& layer) {
  // Work in units of a row times a key, with tiles of 64 and of 128 rows.
  std::int64_t narrow = 0, wide = 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    const std::int64_t rows = tokens_of_one_list(layer, batch.q_len(r)) * layer.group_size();
    narrow += ceil_div(rows, kRows) * batch.kv_len(r);
    wide += 2 * ceil_div(rows, 2 * kRows) * batch.kv_len(r);
  }
  return 20 * wide <= 21 * narrow ? 2 : 1;
}

int lanes_of(std::int64_t rows) {
  return 20 * 2 * ceil_div(rows, 2 * kRows) <= 21 * ceil_div(rows, kRows) ? 2 : 1;
}

WorkPlan plan_work(const ForwardBatch& batch, const AttentionLayer& layer, TileKind tile,
                   int multiprocessors) {
  if (has_parts(tile)) {
    const int lanes = tile == TileKind::kWarpgroups ? lanes_of(batch, layer) : 1;
    return plan_parts(tiles::tiles_of(batch, layer, rows_of(tile) * lanes), lanes, multiprocessors);
  }
  return plan_blocks(tiles::tiles_of(batch, layer, rows_of(tile)), multiprocessors);
}

std::int64_t most_keys(const AttentionLayer& layer, const StepLimits& limits) {
  if (layer.gathers_keys()) return tiles::most_gathered_keys(layer, limits.kv_len);
  const std::int64_t window = layer.sliding_window_size;
  if (window < 0 || !layer.causal || layer.is_cross_attention) return limits.kv_len;
  return std::min(limits.kv_len, window + limits.q_len);
}

Room room_for(TileKind tile, std::int64_t requests, std::int64_t rows, std::int64_t keys,
              int multiprocessors) {
  Room room;
  if (has_parts(tile)) {
    const int lanes = tile == TileKind::kWarpgroups ? lanes_of(rows) : 1;
    const std::int64_t part_rows = rows_of(tile) * lanes;
    const std::int64_t tiles = requests * ceil_div(rows, part_rows);
    room.parts = parts_of(lanes, multiprocessors);
    // Only the end of a part, but the last one's, cuts a tile; of two steps only where some part
    // has several tiles.
    const std::int64_t steps = ceil_div(keys, kStepKeys);
    const bool whole = steps <= 1 || (steps == 2 && tiles <= room.parts);
    const std::int64_t cuts = whole ? 0 : room.parts - 1;
    room.items = tiles + cuts;
    room.merges = std::min(tiles, cuts);
    room.partials = room.merges + cuts;
    room.partial_rows = narrow_i32(std::min(rows, part_rows));
    return room;
  }
  const std::int64_t tile_rows = rows_of(tile);
  const std::int64_t tiles = requests * ceil_div(rows, tile_rows);
  room.items = tiles + tiles::EqualShares::most_further_pieces(multiprocessors);
  room.partials = tiles::EqualShares::most_partials(multiprocessors);
  room.merges = std::min(tiles, room.partials / 2);  // of two pieces or more
  room.partial_rows = narrow_i32(std::min(rows, tile_rows));
  return room;
}

}  // namespace attnbench::mla
