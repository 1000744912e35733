// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/paged_fa/plan.h"

#include <algorithm>
#include <utility>

#include "backends/common/tiles/items.h"
#include "backends/common/tiles/key_shares.h"
#include "backends/common/visibility.h"
#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/batch/graph_padding.h"

namespace attnbench::paged_fa {
namespace {

/// How keys are cut for a kind of tiles.
constexpr tiles::EqualShares::Grain grain_of(TileKind tile) {
  return {.least = tile == TileKind::kFew ? 256 : 1024, .step = 128};
}

/// Keys of one KV head that the second-level cache keeps along with what else is there: 24 MB of an
/// H200's 60, in 16-bit K and V of 128 dimensions.
constexpr std::int64_t kCachedKeys = (24 << 20) / 512;

/// Keys [begin, end) that some row of a tile sees, and [full_begin, full_end) that all rows see.
struct KeyRange {
  std::int64_t begin = 0, end = 0, full_begin = 0, full_end = 0;
};

/// Keys of a sequence that are read, from its first on.
std::int64_t keys_of(const PlanInput& problem, const Sequence& sequence) {
  if (!problem.prefix_alone) return sequence.kv_len;
  return std::max<std::int64_t>(sequence.kv_len - sequence.q_len, 0);
}

KeyRange range_of(const PlanInput& problem, const Sequence& sequence, std::int64_t first_token,
                  std::int64_t last_token) {
  const std::int64_t keys = keys_of(problem, sequence);
  if (!problem.causal && problem.window < 0) return {0, keys, 0, keys};
  const std::int64_t prefix = sequence.kv_len - sequence.q_len;
  KeyRange range{keys, 0, 0, keys};
  const auto add = [&](std::int64_t begin, std::int64_t end, std::int64_t full_end) {
    range.begin = std::min(range.begin, begin);
    range.end = std::max(range.end, end);
    range.full_begin = std::max(range.full_begin, begin);
    range.full_end = std::min(range.full_end, full_end);
  };
  for (std::int64_t t = first_token; t <= last_token; ++t) {
    if (!problem.seen.empty()) {
      const std::size_t at = to_size(2 * (sequence.first_token + t));
      add(problem.seen[at], problem.seen[at + 1], problem.seen[at + 1]);
      continue;
    }
    const bool tree = sequence.tree_positions != nullptr;
    const bool by_depth = tree && problem.window_by_depth;
    const std::int64_t place = by_depth ? sequence.tree_positions[t] : prefix + t;
    const std::int64_t in_block = problem.block - 1 - t % problem.block;
    const std::int64_t ahead = problem.causal ? in_block : problem.window;
    const std::int64_t end = tree ? keys : std::clamp<std::int64_t>(place + ahead + 1, 0, keys);
    std::int64_t begin = chunk_begin(problem.chunk, prefix + t);
    if (problem.window >= 0) {
      begin = std::min(std::max(place - problem.window, begin), by_depth ? prefix : end);
    }
    add(begin, end, tree ? prefix : end);
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
    for (std::int64_t begin = 0, end = 0; begin < rows; begin = end) {
      end = tile_end({sequence.q_len, sequence.kv_len, problem.group}, problem.dual_chunk, begin,
                     static_cast<std::int64_t>(kind));
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

/// Whether all requests should be cut into tiles of 16 rows, though some have more.
bool small_tiles_are_better(const PlanInput& problem) {
  if (problem.spans) return false;  // no kernel has them
  std::int64_t count = 0;
  for (const Sequence& sequence : problem.sequences) {
    count += ceil_div(sequence.q_len * problem.group, tiles::kSmallTileRows);
  }
  if (count > tiles::SmallTiles::most_tiles(problem.heads_kv, problem.multiprocessors)) {
    return false;  // told before any tile is made
  }
  tiles::SmallTiles small(problem.multiprocessors);
  const std::vector<TileKind> kinds(problem.sequences.size(), TileKind::kFew);
  for (const Item& tile : tiles_of(problem, TileKind::kFew, kinds)) {
    small.add(tile.rows, tiles::keys_of(tile));
  }
  return small.are_better(problem.heads_kv);
}

/// Appends a tile's pieces of at most `chunk` keys, each of which meets one form of the queries.
void cut(WorkPlan& plan, std::vector<Item>& items, const PlanInput& problem, const Item& tile,
         std::int64_t chunk) {
  const Sequence& sequence = problem.sequences[static_cast<std::size_t>(tile.sequence)];
  const std::int64_t place = sequence.kv_len - sequence.q_len + tile.row_begin / problem.group;
  const std::vector<VariantKeys> parts =
      variant_keys(problem.dual_chunk, place, tile.key_begin, tile.key_end);
  std::int64_t pieces = 0;
  for (const VariantKeys& part : parts) pieces += tiles::pieces_of(part.end - part.begin, chunk);
  Item item = tile;
  if (pieces > 1) {
    item.splits = narrow_i32(pieces);
    item.tile = plan.tiles++;
    item.first_partial = plan.partials;
    plan.partial_rows = std::max(plan.partial_rows, item.rows);
  }
  std::int32_t unsplit = 0;  // a tile of one piece leaves no partial result
  for (const VariantKeys& part : parts) {
    item.variant = part.variant;
    item.key_begin = narrow_i32(part.begin);
    item.key_end = narrow_i32(part.end);
    tiles::append_pieces(items, item, chunk, pieces > 1 ? plan.partials : unsplit);
  }
  for (auto piece = items.end() - pieces; piece != items.end(); ++piece) {
    piece->full_end = std::min(piece->full_end, piece->key_end);
  }
}

/// Whether the shortest tile has nearly as many keys as the longest.
bool are_even(const std::vector<Item>& tiles) {
  const auto [least, most] =
      std::ranges::minmax(tiles, {}, [](const Item& tile) { return tiles::keys_of(tile); });
  return 5 * tiles::keys_of(least) >= 4 * tiles::keys_of(most);
}

/// Keys of a piece of each tile.
std::vector<std::int64_t> chunks_of(const PlanInput& problem, TileKind kind,
                                    const std::vector<Item>& tiles) {
  const std::int64_t blocks = tiles::blocks_of(problem.multiprocessors);
  if (kind == TileKind::kFew && are_even(tiles)) {
    std::int64_t keys = 0;
    for (const Item& tile : tiles) keys = std::max(keys, tiles::keys_of(tile));
    const tiles::EvenTiles even(std::ssize(tiles) * problem.heads_kv, blocks, grain_of(kind));
    return std::vector<std::int64_t>(tiles.size(), even.chunk(keys));
  }
  const tiles::EqualShares shares(tiles::keys_of(tiles) * problem.heads_kv, blocks, grain_of(kind));
  std::vector<std::int64_t> chunks;
  for (const Item& tile : tiles) chunks.push_back(shares.chunk(tiles::keys_of(tile)));
  return chunks;
}

/// For the plan of up to `tiles` tiles of a kind, of `rows` rows, whatever their keys.
tiles::Room room_of(const PlanInput& problem, TileKind kind, std::int64_t tiles,
                    std::int64_t rows) {
  using tiles::EqualShares;
  const std::int64_t heads = problem.heads_kv;
  const int multiprocessors = problem.multiprocessors;
  std::int64_t further = EqualShares::most_further_pieces(multiprocessors);
  std::int64_t partials = EqualShares::most_partials(multiprocessors);
  if (kind == TileKind::kFew) {
    further = std::max(further, tiles::EvenTiles::most_pieces(multiprocessors));
    partials = std::max(partials, tiles::EvenTiles::most_pieces(multiprocessors));
  }
  tiles::Room room{tiles + ceil_div(further, heads), tiles, ceil_div(partials, heads),
                   narrow_i32(rows)};
  if (problem.dual_chunk.exists()) {
    // Keys of each further form of the queries are further pieces, and all tiles may be cut.
    room.items += 2 * tiles;
    room.partials = room.items;
  }
  return room;
}

TileKind kind_of(const PlanInput& problem, std::int64_t q_len) {
  const std::int64_t rows = q_len * problem.group;
  if (rows <= static_cast<std::int64_t>(TileKind::kFew) && !problem.spans) return TileKind::kFew;
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
  problem.block = layer.causal_block;
  problem.window = layer.sliding_window_size;
  problem.window_by_depth = layer.window_in_trees == WindowInTrees::kDepth;
  problem.chunk = layer.attention_chunk;
  problem.dual_chunk = layer.dual_chunk;
  problem.prefix_alone = batch.problem != nullptr && batch.problem->prefix_alone;
  problem.many_rows = many_rows;
  problem.multiprocessors = multiprocessors;
  problem.spans = !batch.spans.empty() || (batch.problem != nullptr && batch.problem->spans);
  if (!batch.spans.empty()) problem.seen.assign(to_size(2 * batch.q_tokens()), 0);
  const bool tree = batch.forward_mode == ForwardMode::kTargetVerify && problem.causal;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    Sequence sequence{is_padding(batch, r) ? 0 : batch.q_len(r), batch.kv_len(r), nullptr,
                      first_token(batch, r)};
    if (tree) sequence.tree_positions = batch.positions.data() + sequence.first_token;
    for (std::int64_t t = 0; !problem.seen.empty() && t < sequence.q_len; ++t) {
      const Visibility seen = visibility_of(batch, layer, r, t);
      const std::size_t at = to_size(2 * (sequence.first_token + t));
      problem.seen[at] = narrow_i32(seen.begin);
      problem.seen[at + 1] = narrow_i32(seen.end);
    }
    problem.sequences.push_back(sequence);
  }
  return problem;
}

WorkPlan plan_work(const PlanInput& problem) {
  WorkPlan plan;
  plan.seen = problem.seen;
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
    std::int64_t keys_per_head = 1;
    for (std::size_t s = 0; s < kinds.size(); ++s) {
      if (kinds[s] == kind) keys_per_head += keys_of(problem, problem.sequences[s]);
    }

    WorkPlan::Launch launch;
    launch.tile = kind;
    launch.heads_together =
        narrow_i32(std::clamp<std::int64_t>(kCachedKeys / keys_per_head, 1, problem.heads_kv));
    launch.first_item = narrow_i32(static_cast<std::int64_t>(plan.items.size()));
    std::vector<Item> items;
    const std::vector<std::int64_t> chunks = chunks_of(problem, kind, tiles);
    for (std::size_t i = 0; i < tiles.size(); ++i) cut(plan, items, problem, tiles[i], chunks[i]);
    launch.num_items = narrow_i32(std::ssize(items));
    for (const Item& item : tiles::sorted_longest_first(items)) plan.items.push_back(item);
    plan.launches.push_back(launch);
  }
  return plan;
}

UniformPlan uniform_plan(std::int64_t requests, std::int64_t q_len, const PlanInput& like) {
  UniformPlan uniform;
  const auto add = [&](TileKind tile, const tiles::Room& room) {
    uniform.launches.push_back(
        {tile, narrow_i32(uniform.room.items), narrow_i32(room.items), /*heads_together=*/1});
    const std::int64_t items = uniform.room.items + room.items;
    uniform.room = tiles::most_of(uniform.room, room);  // a plan has one of the launches only
    uniform.room.items = items;
  };
  const TileKind tile = kind_of(like, q_len);
  const std::int64_t rows = q_len * like.group;
  const std::int64_t tile_rows = std::min(rows, static_cast<std::int64_t>(tile));
  add(tile, room_of(like, tile, requests * ceil_div(rows, tile_rows), tile_rows));
  if (tile != TileKind::kFew && !like.spans) {
    constexpr std::int64_t kRows = tiles::kSmallTileRows;
    const std::int64_t tiles =
        std::min(requests * ceil_div(rows, kRows),
                 tiles::SmallTiles::most_tiles(like.heads_kv, like.multiprocessors));
    if (tiles > 0) add(TileKind::kFew, room_of(like, TileKind::kFew, tiles, kRows));
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
