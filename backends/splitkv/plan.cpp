// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/splitkv/plan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "backends/common/visibility.h"
#include "backends/splitkv/launch.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/batch/graph_padding.h"
#include "lib/index/kv_splits.h"

namespace attnbench {
namespace {

/// Triton's kernels: max_kv_splits unless told otherwise.
constexpr std::int64_t kMaxTritonSplits = 8;
/// SGLang's deterministic mode: keys of a piece.
constexpr std::int64_t kFixedTileKeys = 256;

/// Which kernel a request meets may depend on its batch only where the splits do too.
bool takes_many_rows(SplitRule rule, ForwardMode mode, std::int64_t most_rows) {
  const bool any_kernel = rule == SplitRule::kFill || mode == ForwardMode::kDecode;
  return most_rows > kSplitKvFewRows || !any_kernel;
}

struct KeyRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Keys that some token of [first, last] sees. Later tokens never see less at the end nor more at
/// the beginning, but for the nodes of a draft tree, whose positions follow no order.
KeyRange keys_seen(const ForwardBatch& batch, const AttentionLayer& layer, std::int64_t r,
                   std::int64_t first, std::int64_t last) {
  const Visibility seen = visibility_of(batch, layer, r, first);
  KeyRange range{seen.begin, visibility_of(batch, layer, r, last).end};
  if (seen.mask != nullptr && layer.sliding_window_size >= 0) {
    for (std::int64_t t = first + 1; t <= last; ++t) {
      range.begin = std::min(range.begin, visibility_of(batch, layer, r, t).begin);
    }
  }
  range.begin = std::min(range.begin, range.end);
  return range;
}

/// Tiles over all their keys.
std::vector<SplitKvItem> tiles_of(const ForwardBatch& batch, const AttentionLayer& layer,
                                  std::int64_t tile_rows) {
  std::vector<SplitKvItem> tiles;
  const std::int64_t group = layer.group_size();
  SplitKvItem tile;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    const std::int64_t rows = is_padding(batch, r) ? 0 : batch.q_len(r) * group;
    tile.request = narrow_i32(r);
    tile.kv_len = narrow_i32(batch.kv_len(r));
    tile.q_len = narrow_i32(batch.q_len(r));
    for (std::int64_t begin = 0; begin < rows; begin += tile_rows) {
      const std::int64_t end = std::min(rows, begin + tile_rows);
      const KeyRange keys = keys_seen(batch, layer, r, begin / group, (end - 1) / group);
      tile.row_begin = narrow_i32(begin);
      tile.rows = narrow_i32(end - begin);
      tile.key_begin = narrow_i32(keys.begin);
      tile.key_end = narrow_i32(keys.end);
      tiles.push_back(tile);
    }
    tile.kv_begin = narrow_i32(std::int64_t{tile.kv_begin} + tile.kv_len);
    tile.q_begin = narrow_i32(std::int64_t{tile.q_begin} + tile.q_len);
  }
  return tiles;
}

/// Keys per piece of each tile.
std::vector<std::int64_t> chunks_of(const std::vector<SplitKvItem>& tiles,
                                    const ForwardBatch& batch, const AttentionLayer& layer,
                                    SplitRule rule, int multiprocessors) {
  std::vector<std::int64_t> chunks;
  chunks.reserve(tiles.size());
  if (rule == SplitRule::kFill) {
    return chunks_in_full_rounds(tiles, layer.heads_kv, multiprocessors);
  }
  if (batch.forward_mode != ForwardMode::kDecode) {
    for (const SplitKvItem& tile : tiles) chunks.push_back(keys_of(tile));
    return chunks;
  }
  std::vector<std::int32_t> dynamic;
  std::vector<std::size_t> place(static_cast<std::size_t>(batch.batch_size));  // without padding
  if (rule == SplitRule::kDynamic) {
    std::vector<std::int32_t> lens;
    std::int32_t last = -1;
    for (const SplitKvItem& tile : tiles) {
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
  for (const SplitKvItem& tile : tiles) {
    switch (rule) {
      case SplitRule::kFixedTile:
        chunks.push_back(kFixedTileKeys);
        break;
      case SplitRule::kDynamic:
        chunks.push_back(
            kv_split_chunk(keys_of(tile), dynamic[place[static_cast<std::size_t>(tile.request)]]));
        break;
      default:
        chunks.push_back(kv_split_chunk(keys_of(tile), stepped_kv_splits(keys_of(tile))));
    }
  }
  return chunks;
}

}  // namespace

std::string_view name_of(SplitRule rule) {
  switch (rule) {
    case SplitRule::kFill:
      return "splitkv";
    case SplitRule::kStepped:
      return "splitkv:stepped";
    case SplitRule::kDynamic:
      return "splitkv:dynamic";
    case SplitRule::kFixedTile:
      return "splitkv:fixed_tile";
  }
  return "";
}

std::string_view description_of(SplitRule rule) {
  switch (rule) {
    case SplitRule::kFill:
      return "tensor-core tiles through token indices, keys split, merged by LSE";
    case SplitRule::kStepped:
      return "splitkv, decodes in a piece per 512 keys, at most 8";
    case SplitRule::kDynamic:
      return "splitkv, decodes in as many pieces as SGLang's Triton backend has, at most 8";
    case SplitRule::kFixedTile:
      return "splitkv, decodes in pieces of 256 keys: the same bits in any batch";
  }
  return "";
}

SplitKvPlan plan_splitkv(const ForwardBatch& batch, const AttentionLayer& layer, SplitRule rule,
                         int multiprocessors) {
  std::int64_t most_rows = 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    most_rows = std::max(most_rows, batch.q_len(r) * layer.group_size());
  }
  SplitKvPlanner planner(takes_many_rows(rule, batch.forward_mode, most_rows));
  std::vector<SplitKvItem> tiles = tiles_of(batch, layer, planner.tile_rows());
  if (most_rows > kSplitKvFewRows && rule == SplitRule::kFill) {
    SmallTiles small(multiprocessors);
    for (const SplitKvItem& tile : tiles) small.add(tile);
    if (small.are_better(layer.heads_kv)) tiles = tiles_of(batch, layer, kSplitKvFewRows);
  }
  const std::vector<std::int64_t> chunks = chunks_of(tiles, batch, layer, rule, multiprocessors);
  for (std::size_t i = 0; i < tiles.size(); ++i) planner.add(tiles[i], chunks[i]);
  return std::move(planner).finish();
}

SplitKvRoom splitkv_room(const UniformBatches& batches, const AttentionLayer& layer, SplitRule rule,
                         int multiprocessors) {
  const std::int64_t rows = batches.q_len * layer.group_size();
  const bool many_rows = takes_many_rows(rule, batches.mode, rows);
  const std::int64_t tile_rows = std::min(rows, SplitKvPlanner(many_rows).tile_rows());
  SplitKvRoom room;
  room.tiles = batches.requests * ceil_div(rows, tile_rows);
  if (rule == SplitRule::kFill) {
    room.tiles =
        std::max(room.tiles, std::min(batches.requests * ceil_div(rows, kSplitKvFewRows),
                                      SmallTiles::most_tiles(layer.heads_kv, multiprocessors)));
  }
  room.items = room.tiles;
  if (rule == SplitRule::kFill) {
    const std::int64_t further = EqualShares::most_further_pieces(multiprocessors) / layer.heads_kv;
    room.items += further;
    room.partials = further + std::min(further, room.tiles);  // each cut tile has one more
  } else if (batches.mode == ForwardMode::kDecode) {
    const std::int64_t pieces = rule == SplitRule::kFixedTile
                                    ? ceil_div(batches.max_kv_len, kFixedTileKeys)
                                    : kMaxTritonSplits;
    room.partials = room.items = room.tiles * pieces;
  }
  if (room.partials > 0) room.partial_rows = narrow_i32(tile_rows);
  return room;
}

}  // namespace attnbench
