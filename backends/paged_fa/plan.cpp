// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/paged_fa/plan.h"

#include <algorithm>
#include <utility>

#include "backends/common/visibility.h"
#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/batch/graph_padding.h"

namespace attnbench::paged_fa {
namespace {

/// Keys of a piece are a multiple of this, and of what a block takes in one step.
constexpr std::int64_t kStepKeys = 128;
/// Blocks that one multiprocessor holds at a time.
constexpr std::int64_t kBlocksPerMultiprocessor = 2;

/// Below this a piece is more start and merge than work.
constexpr std::int64_t least_keys(TileKind tile) { return tile == TileKind::kFew ? 256 : 1024; }

/// Up to this many keys for each block, tiles of 16 rows take no longer to read them than larger
/// tiles take to be launched and merged (splitkv's bound, an H200's: there even 1000 keys).
constexpr std::int64_t kMostSmallTileKeys = 768;

/// Keys of one KV head that the second-level cache keeps along with what else is there: 24 MB of an
/// H200's 60, in 16-bit K and V of 128 dimensions.
constexpr std::int64_t kCachedKeys = (24 << 20) / 512;

/// Keys [begin, end) that some row of a tile sees, and [full_begin, full_end) that all rows see.
struct KeyRange {
  std::int64_t begin = 0, end = 0, full_begin = 0, full_end = 0;
};

KeyRange range_of(const PlanInput& problem, const Sequence& sequence, std::int64_t first_token,
                  std::int64_t last_token) {
  const std::int64_t kv_len = sequence.kv_len;
  if (!problem.causal && problem.window < 0) return {0, kv_len, 0, kv_len};
  const std::int64_t prefix = kv_len - sequence.q_len;
  KeyRange range{kv_len, 0, 0, kv_len};
  for (std::int64_t t = first_token; t <= last_token; ++t) {
    const bool tree = sequence.tree_positions != nullptr;
    const bool by_depth = tree && problem.window_by_depth;
    const std::int64_t place = by_depth ? sequence.tree_positions[t] : prefix + t;
    const std::int64_t ahead = problem.causal ? 0 : problem.window;
    const std::int64_t end = tree ? kv_len : std::clamp<std::int64_t>(place + ahead + 1, 0, kv_len);
    std::int64_t begin = 0;
    if (problem.window >= 0) {
      begin = std::clamp<std::int64_t>(place - problem.window, 0, by_depth ? prefix : end);
    }
    range.begin = std::min(range.begin, begin);
    range.end = std::max(range.end, end);
    range.full_begin = std::max(range.full_begin, begin);
    range.full_end = std::min(range.full_end, tree ? prefix : end);
  }
  range.begin = std::min(range.begin, range.end);
  return range;
}

std::vector<Item> tiles_of(const PlanInput& problem, TileKind kind,
                           const std::vector<TileKind>& kinds) {
  std::vector<Item> tiles;
  for (std::size_t s = 0; s < problem.sequences.size(); ++s) {
    if (kinds[s] != kind) continue;
    const Sequence& sequence = problem.sequences[s];
    const std::int64_t rows = sequence.q_len * problem.group;
    for (std::int64_t begin = 0; begin < rows; begin += static_cast<std::int64_t>(kind)) {
      const std::int64_t end = std::min(rows, begin + static_cast<std::int64_t>(kind));
      const KeyRange range =
          range_of(problem, sequence, begin / problem.group, (end - 1) / problem.group);
      Item tile;
      tile.sequence = narrow_i32(static_cast<std::int64_t>(s));
      tile.row_begin = narrow_i32(begin);
      tile.rows = narrow_i32(end - begin);
      tile.key_begin = narrow_i32(range.begin);
      tile.key_end = narrow_i32(range.end);
      tile.full_begin = narrow_i32(range.full_begin);
      tile.full_end = narrow_i32(range.full_end);
      tiles.push_back(tile);
    }
  }
  return tiles;
}

std::int64_t blocks_of(const PlanInput& problem) {
  return std::max(1, problem.multiprocessors) * kBlocksPerMultiprocessor;
}

std::int64_t keys_of(const Item& item) {
  return static_cast<std::int64_t>(item.key_end) - item.key_begin;
}

/// The most tiles of 16 rows that larger requests may be cut into.
std::int64_t most_small_tiles(const PlanInput& problem) {
  return blocks_of(problem) / problem.heads_kv;
}

/// Whether all requests should be cut into tiles of 16 rows, though some have more. Each tile reads
/// its keys anew, but where there is little to read, one launch of more blocks is done sooner than
/// one after another.
bool small_tiles_are_better(const PlanInput& problem) {
  constexpr auto kRows = static_cast<std::int64_t>(TileKind::kFew);
  std::int64_t count = 0;
  for (const Sequence& sequence : problem.sequences) {
    count += ceil_div(sequence.q_len * problem.group, kRows);
  }
  if (count > most_small_tiles(problem)) return false;  // told before any tile is made
  std::int64_t keys = 0;
  const std::vector<TileKind> kinds(problem.sequences.size(), TileKind::kFew);
  for (const Item& tile : tiles_of(problem, TileKind::kFew, kinds)) keys += keys_of(tile);
  return keys * problem.heads_kv <= kMostSmallTileKeys * blocks_of(problem);
}

/// Appends a tile's pieces of at most `chunk` keys.
void cut(WorkPlan& plan, const Item& tile, std::int64_t chunk) {
  const std::int64_t pieces = keys_of(tile) > chunk ? ceil_div(keys_of(tile), chunk) : 1;
  if (pieces == 1) {
    plan.items.push_back(tile);
    return;
  }
  Item item = tile;
  item.splits = narrow_i32(pieces);
  item.tile = plan.tiles++;
  item.first_partial = plan.partials;
  plan.partial_rows = std::max(plan.partial_rows, item.rows);
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    item.key_begin = narrow_i32(tile.key_begin + piece * chunk);
    item.key_end =
        narrow_i32(std::min<std::int64_t>(tile.key_end, tile.key_begin + (piece + 1) * chunk));
    item.full_end = std::min(tile.full_end, item.key_end);
    item.partial = plan.partials++;
    plan.items.push_back(item);
  }
}

/// For the plan of up to `tiles` tiles of `rows` rows, whatever their keys.
Room room_of(const PlanInput& problem, std::int64_t tiles, std::int64_t rows) {
  // A tile of x shares has max(1, floor(x + 1/2)) pieces or fewer, and the tiles of all heads have
  // as many shares as there are blocks: pieces beyond the first are fewer than x, and where there
  // are two or more (x >= 3/2), all of them are at most 4/3 x.
  const std::int64_t blocks = blocks_of(problem), heads = problem.heads_kv;
  return {tiles + ceil_div(blocks, heads), tiles, ceil_div(4 * blocks, 3 * heads),
          narrow_i32(rows)};
}

TileKind kind_of(const PlanInput& problem, std::int64_t q_len) {
  const std::int64_t rows = q_len * problem.group;
  if (rows <= static_cast<std::int64_t>(TileKind::kFew)) return TileKind::kFew;
  if (rows <= static_cast<std::int64_t>(TileKind::kSome) || !problem.many_rows) {
    return TileKind::kSome;
  }
  return TileKind::kMany;
}

}  // namespace

PlanInput plan_input(const ForwardBatch& batch, const AttentionLayer& layer, bool many_rows,
                     int multiprocessors) {
  PlanInput problem;
  problem.heads_kv = layer.heads_kv;
  problem.group = layer.group_size();
  problem.causal = layer.causal && !layer.is_cross_attention;
  problem.window = layer.sliding_window_size;
  problem.window_by_depth = layer.window_in_trees == WindowInTrees::kDepth;
  problem.many_rows = many_rows;
  problem.multiprocessors = multiprocessors;
  const bool tree = batch.forward_mode == ForwardMode::kTargetVerify && problem.causal;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    Sequence sequence{is_padding(batch, r) ? 0 : batch.q_len(r), batch.kv_len(r), nullptr};
    if (tree) sequence.tree_positions = batch.positions.data() + first_token(batch, r);
    problem.sequences.push_back(sequence);
  }
  return problem;
}

WorkPlan plan_work(const PlanInput& problem) {
  WorkPlan plan;
  std::vector<TileKind> kinds;
  for (const Sequence& sequence : problem.sequences) {
    kinds.push_back(kind_of(problem, sequence.q_len));
  }
  if (std::ranges::count(kinds, TileKind::kFew) != std::ssize(kinds) &&
      small_tiles_are_better(problem)) {
    kinds.assign(kinds.size(), TileKind::kFew);
  }
  for (const TileKind kind : {TileKind::kMany, TileKind::kSome, TileKind::kFew}) {
    const std::vector<Item> tiles = tiles_of(problem, kind, kinds);
    if (tiles.empty()) continue;
    std::int64_t total = 0;
    for (const Item& tile : tiles) total += keys_of(tile) * problem.heads_kv;
    const std::int64_t share = std::max(least_keys(kind), ceil_div(total, blocks_of(problem)));

    std::int64_t keys_per_head = 1;
    for (std::size_t s = 0; s < kinds.size(); ++s) {
      if (kinds[s] == kind) keys_per_head += problem.sequences[s].kv_len;
    }

    WorkPlan::Launch launch;
    launch.tile = kind;
    launch.heads_together =
        narrow_i32(std::clamp<std::int64_t>(kCachedKeys / keys_per_head, 1, problem.heads_kv));
    launch.first_item = narrow_i32(static_cast<std::int64_t>(plan.items.size()));
    for (const Item& tile : tiles) {
      const std::int64_t keys = keys_of(tile);
      const std::int64_t pieces = std::max<std::int64_t>(1, (keys + share / 2) / share);
      cut(plan, tile, round_up(ceil_div(keys, pieces), kStepKeys));
    }
    launch.num_items = narrow_i32(static_cast<std::int64_t>(plan.items.size())) - launch.first_item;
    // Longest first keeps the last blocks' finishing times close.
    std::stable_sort(plan.items.begin() + launch.first_item, plan.items.end(),
                     [](const Item& a, const Item& b) { return keys_of(a) > keys_of(b); });
    plan.launches.push_back(launch);
  }
  return plan;
}

Room most_of(const Room& a, const Room& b) {
  return {std::max(a.items, b.items), std::max(a.tiles, b.tiles), std::max(a.partials, b.partials),
          std::max(a.partial_rows, b.partial_rows)};
}

UniformPlan uniform_plan(std::int64_t requests, std::int64_t q_len, const PlanInput& like) {
  UniformPlan uniform;
  const auto add = [&](TileKind tile, const Room& room) {
    uniform.launches.push_back(
        {tile, narrow_i32(uniform.room.items), narrow_i32(room.items), /*heads_together=*/1});
    const std::int64_t items = uniform.room.items + room.items;
    uniform.room = most_of(uniform.room, room);  // a plan has one of the launches only
    uniform.room.items = items;
  };
  const TileKind tile = kind_of(like, q_len);
  const std::int64_t rows = q_len * like.group;
  const std::int64_t tile_rows = std::min(rows, static_cast<std::int64_t>(tile));
  add(tile, room_of(like, requests * ceil_div(rows, tile_rows), tile_rows));
  if (tile != TileKind::kFew) {
    constexpr auto kRows = static_cast<std::int64_t>(TileKind::kFew);
    const std::int64_t tiles = std::min(requests * ceil_div(rows, kRows), most_small_tiles(like));
    if (tiles > 0) add(TileKind::kFew, room_of(like, tiles, kRows));
  }
  return uniform;
}

void place_in(const UniformPlan& uniform, WorkPlan& plan) {
  std::vector<Item> items(static_cast<std::size_t>(uniform.room.items));  // no rows
  for (const WorkPlan::Launch& launch : plan.launches) {
    const auto to = std::ranges::find(uniform.launches, launch.tile, &WorkPlan::Launch::tile);
    expects(to != uniform.launches.end() && launch.num_items <= to->num_items,
            "a plan larger than those of its batch size");
    std::copy_n(plan.items.begin() + launch.first_item, launch.num_items,
                items.begin() + to->first_item);
  }
  plan.items = std::move(items);
  plan.launches = uniform.launches;
}

}  // namespace attnbench::paged_fa
