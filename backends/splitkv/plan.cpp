// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/splitkv/plan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "backends/common/tiles/items.h"
#include "backends/common/tiles/key_shares.h"
#include "backends/common/tiles/tiles.h"
#include "backends/common/visibility.h"
#include "backends/splitkv/launch.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/index/kv_splits.h"

namespace attnbench::splitkv {
namespace {

/// Triton's kernels: max_kv_splits unless told otherwise.
constexpr std::int64_t kMaxTritonSplits = 8;

/// Which kernel a request meets may depend on its batch only where the splits do too.
bool takes_many_rows(SplitRule rule, ForwardMode mode, std::int64_t most_rows) {
  const bool any_kernel = rule == SplitRule::kFill || mode == ForwardMode::kDecode;
  return most_rows > kFewRows || !any_kernel;
}

/// A tile's keys by the form of its queries that they meet.
std::vector<Item> parts_of(const Item& tile, const AttentionLayer& layer) {
  const std::int64_t place =
      std::int64_t{tile.kv_len} - tile.q_len + tile.row_begin / layer.group_size();
  std::vector<Item> parts;
  for (const VariantKeys& keys :
       variant_keys(layer.dual_chunk, place, tile.key_begin, tile.key_end)) {
    Item& part = parts.emplace_back(tile);
    part.variant = keys.variant;
    part.key_begin = narrow_i32(keys.begin);
    part.key_end = narrow_i32(keys.end);
  }
  return parts;
}

/// Keys per piece of each tile.
std::vector<std::int64_t> chunks_of(const std::vector<Item>& tiles, const ForwardBatch& batch,
                                    const AttentionLayer& layer, SplitRule rule,
                                    int multiprocessors) {
  std::vector<std::int64_t> chunks;
  chunks.reserve(tiles.size());
  if (rule == SplitRule::kFill) {
    return chunks_in_full_rounds(tiles, layer.heads_kv, multiprocessors);
  }
  if (batch.forward_mode != ForwardMode::kDecode) {
    for (const Item& tile : tiles) chunks.push_back(keys_of(tile));
    return chunks;
  }
  std::vector<std::int32_t> dynamic;
  std::vector<std::size_t> place(static_cast<std::size_t>(batch.batch_size));  // without padding
  if (rule == SplitRule::kDynamic) {
    std::vector<std::int32_t> lens;
    std::int32_t last = -1;
    for (const Item& tile : tiles) {
      if (tile.request != last) lens.push_back(1);
      last = tile.request;
      place[static_cast<std::size_t>(last)] = lens.size() - 1;
      lens.back() = std::max(lens.back(), narrow_i32(keys_of(tile)));
    }
    dynamic = dynamic_kv_splits(lens, {.heads_q = layer.heads_q,
                                       .heads_kv = layer.heads_kv,
                                       .max_splits = kMaxTritonSplits,
                                       .multiprocessors = multiprocessors});
  }
  for (const Item& tile : tiles) {
    if (rule.kind == SplitRule::kFixedTile) {
      chunks.push_back(rule.tile_keys);
      continue;
    }
    const std::int64_t pieces = rule == SplitRule::kDynamic
                                    ? dynamic[place[static_cast<std::size_t>(tile.request)]]
                                    : rule.pieces;
    chunks.push_back(kv_split_chunk(keys_of(tile), pieces));
  }
  return chunks;
}

}  // namespace

WorkPlan plan_work(const ForwardBatch& batch, const AttentionLayer& layer, SplitRule rule,
                   int multiprocessors) {
  std::int64_t most_rows = 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    most_rows = std::max(most_rows, tokens_of_one_list(layer, batch.q_len(r)) * layer.group_size());
  }
  Planner planner(takes_many_rows(rule, batch.forward_mode, most_rows));
  std::vector<Item> tiles = tiles::tiles_of(batch, layer, planner.tile_rows());
  if (most_rows > kFewRows && rule == SplitRule::kFill) {
    tiles::SmallTiles small(multiprocessors);
    for (const Item& tile : tiles) small.add(tile.rows, keys_of(tile));
    if (small.are_better(layer.heads_kv)) tiles = tiles::tiles_of(batch, layer, kFewRows);
  }
  const std::vector<std::int64_t> chunks = chunks_of(tiles, batch, layer, rule, multiprocessors);
  for (std::size_t i = 0; i < tiles.size(); ++i) planner.add(parts_of(tiles[i], layer), chunks[i]);
  return std::move(planner).finish();
}

UniformBatches uniform_batches(const Problem& problem) {
  const StepLimits& limits = problem.limits;
  const AttentionLayer& layer = problem.layer;
  if (!layer.selection.exists())
    return {problem.mode, limits.requests, limits.q_len, limits.kv_len};
  return {problem.mode, limits.requests * limits.q_len, 1,
          tiles::most_gathered_keys(layer, limits.kv_len)};
}

tiles::Room room_for(const UniformBatches& batches, const AttentionLayer& layer, SplitRule rule,
                     int multiprocessors) {
  const std::int64_t rows = batches.q_len * layer.group_size();
  const bool many_rows = takes_many_rows(rule, batches.mode, rows);
  const std::int64_t tile_rows = std::min(rows, Planner(many_rows).tile_rows());
  tiles::Room room;
  room.tiles = batches.requests * ceil_div(rows, tile_rows);
  if (rule == SplitRule::kFill) {
    room.tiles = std::max(room.tiles,
                          std::min(batches.requests * ceil_div(rows, kFewRows),
                                   tiles::SmallTiles::most_tiles(layer.heads_kv, multiprocessors)));
  }
  if (layer.dual_chunk.exists()) {  // tiles end with their chunk
    room.tiles += batches.requests * ceil_div(batches.q_len - 1, layer.dual_chunk.step());
  }
  room.items = room.tiles;
  if (rule == SplitRule::kFill) {
    const std::int64_t further =
        tiles::EqualShares::most_further_pieces(multiprocessors) / layer.heads_kv;
    room.items += further;
    room.partials = further + std::min(further, room.tiles);  // each cut tile has one more
  } else if (batches.mode == ForwardMode::kDecode) {
    std::int64_t pieces = rule.pieces;
    if (rule == SplitRule::kDynamic) pieces = kMaxTritonSplits;
    if (rule.kind == SplitRule::kFixedTile) pieces = ceil_div(batches.max_kv_len, rule.tile_keys);
    room.partials = room.items = room.tiles * pieces;
  }
  // Keys of each further form of the queries are further pieces, and all tiles are cut.
  const std::int64_t further_forms = room.tiles * (layer.query_variants() - 1);
  if (further_forms > 0) {
    room.items += further_forms;
    room.partials = room.items;
  }
  if (room.partials > 0) room.partial_rows = narrow_i32(tile_rows);
  return room;
}

}  // namespace attnbench::splitkv
