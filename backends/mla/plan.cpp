// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/mla/plan.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>

#include "backends/common/visibility.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/batch/graph_padding.h"

namespace attnbench {
namespace {

/// Rows of one block, and keys that it takes at a time.
constexpr std::int64_t kRows = 64;
constexpr std::int64_t kStepKeys = 128;
// In steps, of about 3 us each on an H200: starting and storing an item, what a piece should have
// at least, and the merge's launch.
constexpr std::int64_t kItemCost = 2;
constexpr std::int64_t kLeastSteps = 2;
constexpr std::int64_t kMergeCost = 2;

int parts_of(int lanes, int multiprocessors) { return std::max(1, multiprocessors / lanes); }

std::int64_t steps_of(const SplitKvItem& item) {
  return std::max<std::int64_t>(1,
                                ceil_div(std::int64_t{item.key_end} - item.key_begin, kStepKeys));
}

/// Whole tiles, the longest first, each to the part that has least to do.
struct Whole {
  std::vector<std::vector<std::size_t>> tiles_of_part;
  std::int64_t longest = 0;
};
Whole assign_whole(const std::vector<SplitKvItem>& tiles, std::size_t parts) {
  std::vector<std::size_t> order(tiles.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return steps_of(tiles[a]) > steps_of(tiles[b]);
  });
  Whole whole;
  whole.tiles_of_part.resize(parts);
  using Load = std::pair<std::int64_t, std::size_t>;  // cost, part; a heap with the least on top
  std::vector<Load> loads;
  for (std::size_t part = 0; part < parts; ++part) loads.emplace_back(0, part);
  for (const std::size_t tile : order) {
    std::pop_heap(loads.begin(), loads.end(), std::greater<>());
    Load& least = loads.back();
    least.first += steps_of(tiles[tile]) + kItemCost;
    whole.longest = std::max(whole.longest, least.first);
    whole.tiles_of_part[least.second].push_back(tile);
    std::push_heap(loads.begin(), loads.end(), std::greater<>());
  }
  return whole;
}

/// A piece of a tile: steps [begin, end).
struct Piece {
  std::size_t tile = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
/// Tiles one after the other, cut where a part has had `cost`. Empty if the parts do not suffice.
std::vector<std::vector<Piece>> cut(const std::vector<SplitKvItem>& tiles, std::size_t parts,
                                    std::int64_t cost) {
  std::vector<std::vector<Piece>> pieces(parts);
  std::size_t part = 0;
  std::int64_t room = cost;
  for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
    const std::int64_t steps = steps_of(tiles[tile]);
    for (std::int64_t at = 0; at < steps;) {
      std::int64_t take = std::min(steps - at, room - kItemCost);
      if (take < std::min(steps - at, kLeastSteps)) {
        if (++part == parts) return {};
        room = cost;
        continue;
      }
      const std::int64_t rest = steps - at - take;
      if (rest > 0 && rest < kLeastSteps && take >= 2 * kLeastSteps) take -= kLeastSteps - rest;
      pieces[part].push_back({tile, at, at + take});
      at += take;
      room -= take + kItemCost;
    }
  }
  return pieces;
}

}  // namespace

int mla_lanes(const ForwardBatch& batch, const AttentionLayer& layer) {
  // Work in units of a row times a key, with tiles of 64 and of 128 rows.
  std::int64_t narrow = 0, wide = 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    const std::int64_t rows = batch.q_len(r) * layer.group_size();
    narrow += ceil_div(rows, kRows) * batch.kv_len(r);
    wide += 2 * ceil_div(rows, 2 * kRows) * batch.kv_len(r);
  }
  return 20 * wide <= 21 * narrow ? 2 : 1;
}

int mla_lanes(std::int64_t rows) {
  return 20 * 2 * ceil_div(rows, 2 * kRows) <= 21 * ceil_div(rows, kRows) ? 2 : 1;
}

std::vector<SplitKvItem> mla_tiles(const ForwardBatch& batch, const AttentionLayer& layer,
                                   int lanes) {
  std::vector<SplitKvItem> tiles;
  const std::int64_t group = layer.group_size(), tile_rows = kRows * lanes;
  SplitKvItem tile;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    const std::int64_t rows = is_padding(batch, r) ? 0 : batch.q_len(r) * group;
    tile.request = narrow_i32(r);
    tile.kv_len = narrow_i32(batch.kv_len(r));
    tile.q_len = narrow_i32(batch.q_len(r));
    for (std::int64_t row = 0; row < rows; row += tile_rows) {
      const std::int64_t end = std::min(rows, row + tile_rows);
      std::int64_t first_key = tile.kv_len, last_key = 0;
      for (std::int64_t t = row / group; t <= (end - 1) / group; ++t) {
        const Visibility seen = visibility_of(batch, layer, r, t);
        first_key = std::min(first_key, seen.begin);
        last_key = std::max(last_key, seen.end);
      }
      tile.row_begin = narrow_i32(row);
      tile.rows = narrow_i32(end - row);
      tile.key_begin = narrow_i32(std::min(first_key, last_key));
      tile.key_end = narrow_i32(last_key);
      tiles.push_back(tile);
    }
    tile.q_begin = narrow_i32(std::int64_t{tile.q_begin} + tile.q_len);
  }
  return tiles;
}

MlaPlan plan_mla(const std::vector<SplitKvItem>& tiles, int lanes, int multiprocessors) {
  MlaPlan plan;
  plan.lanes = lanes;
  plan.partial_rows = narrow_i32(kRows * lanes);
  plan.part_begin.push_back(0);
  if (tiles.empty()) return plan;
  const auto parts = static_cast<std::size_t>(parts_of(lanes, multiprocessors));
  std::int64_t total = 0;
  for (const SplitKvItem& tile : tiles) total += steps_of(tile) + kItemCost;
  const Whole whole = assign_whole(tiles, parts);

  std::vector<std::vector<Piece>> pieces;
  std::int64_t cost =
      std::max(ceil_div(total, static_cast<std::int64_t>(parts)), kItemCost + kLeastSteps);
  while (pieces.empty() && cost + kMergeCost < whole.longest) pieces = cut(tiles, parts, cost++);
  if (pieces.empty()) {
    for (const std::vector<std::size_t>& of_part : whole.tiles_of_part) {
      for (const std::size_t tile : of_part) plan.items.push_back(tiles[tile]);
      plan.part_begin.push_back(narrow_i32(static_cast<std::int64_t>(plan.items.size())));
    }
    return plan;
  }

  std::vector<std::int32_t> splits(tiles.size(), 0);
  for (const std::vector<Piece>& of_part : pieces) {
    for (const Piece& piece : of_part) ++splits[piece.tile];
  }
  std::vector<std::int32_t> partial(tiles.size(), 0);
  for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
    if (splits[tile] == 1) continue;
    partial[tile] = plan.partials;
    SplitKvItem merge = tiles[tile];
    merge.splits = splits[tile];
    merge.first_partial = plan.partials;
    plan.merges.push_back(merge);
    plan.partials += splits[tile];
  }
  for (const std::vector<Piece>& of_part : pieces) {
    for (const Piece& piece : of_part) {
      SplitKvItem item = tiles[piece.tile];
      const std::int64_t begin = item.key_begin, end = item.key_end;
      item.key_begin = narrow_i32(begin + piece.begin * kStepKeys);
      item.key_end = narrow_i32(std::min(end, begin + piece.end * kStepKeys));
      item.splits = splits[piece.tile];
      if (item.splits > 1) item.partial = partial[piece.tile]++;
      plan.items.push_back(item);
    }
    plan.part_begin.push_back(narrow_i32(static_cast<std::int64_t>(plan.items.size())));
  }
  return plan;
}

MlaRoom most_of(const MlaRoom& a, const MlaRoom& b) {
  return {std::max(a.items, b.items),       std::max(a.tiles, b.tiles),
          std::max(a.parts, b.parts),       std::max(a.merges, b.merges),
          std::max(a.partials, b.partials), std::max(a.partial_rows, b.partial_rows)};
}

MlaRoom mla_room(std::int64_t requests, std::int64_t rows, int multiprocessors) {
  const int lanes = mla_lanes(rows);
  const std::int64_t tiles = requests * ceil_div(rows, kRows * lanes);
  MlaRoom room;
  room.parts = parts_of(lanes, multiprocessors);
  // Only the end of a part, but the last one's, cuts a tile.
  const std::int64_t cuts = room.parts - 1;
  room.items = tiles + cuts;
  room.merges = std::min(tiles, cuts);
  room.partials = room.merges + cuts;
  room.partial_rows = narrow_i32(kRows * lanes);
  return room;
}

}  // namespace attnbench
