// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/splitkv/plan.h"

#include <algorithm>

#include "backends/common/visibility.h"
#include "backends/splitkv/launch.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/index/csr.h"
#include "lib/index/kv_splits.h"

namespace attnbench {
namespace {

/// Keys of a piece are a multiple of this: what the warps of a block take in one round.
constexpr std::int64_t kRoundKeys = 64;
/// Below this a piece is more start and merge than work.
constexpr std::int64_t kLeastKeys = 256;
/// Blocks that one multiprocessor holds at a time.
constexpr std::int64_t kBlocksPerMultiprocessor = 2;
/// Triton's kernels: max_kv_splits unless told otherwise.
constexpr std::int64_t kMaxTritonSplits = 8;

struct Tile {
  SplitKvItem item;
  [[nodiscard]] std::int64_t keys() const { return item.key_end - item.key_begin; }
};

std::vector<Tile> tiles_of(const ForwardBatch& batch, const AttentionLayer& layer,
                           std::int64_t tile_rows) {
  std::vector<Tile> tiles;
  const std::int64_t group = layer.group_size();
  const std::vector<std::int32_t> q_indptr = qo_indptr(batch);
  std::int64_t kv_begin = 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    const std::int64_t rows = batch.q_len(r) * group;
    for (std::int64_t begin = 0; begin < rows; begin += tile_rows) {
      const std::int64_t end = std::min(rows, begin + tile_rows);
      std::int64_t key_begin = batch.kv_len(r), key_end = 0;
      for (std::int64_t t = begin / group; t <= (end - 1) / group; ++t) {
        const Visibility seen = visibility_of(batch, layer, r, t);
        key_begin = std::min(key_begin, seen.begin);
        key_end = std::max(key_end, seen.end);
      }
      Tile tile;
      tile.item.request = narrow_i32(r);
      tile.item.kv_begin = narrow_i32(kv_begin);
      tile.item.kv_len = narrow_i32(batch.kv_len(r));
      tile.item.q_begin = q_indptr[static_cast<std::size_t>(r)];
      tile.item.q_len = narrow_i32(batch.q_len(r));
      tile.item.row_begin = narrow_i32(begin);
      tile.item.rows = narrow_i32(end - begin);
      tile.item.key_begin = narrow_i32(std::min(key_begin, key_end));
      tile.item.key_end = narrow_i32(key_end);
      for (int head = 0; head < layer.heads_kv; ++head) {
        tile.item.kv_head = head;
        tiles.push_back(tile);
      }
    }
    kv_begin += batch.kv_len(r);
  }
  return tiles;
}

/// Keys per piece of each tile.
std::vector<std::int64_t> chunks_of(const std::vector<Tile>& tiles, const ForwardBatch& batch,
                                    const AttentionLayer& layer, SplitRule rule,
                                    int multiprocessors) {
  std::vector<std::int64_t> chunks;
  if (rule == SplitRule::kFill) {
    std::int64_t total = 0;
    for (const Tile& tile : tiles) total += tile.keys();
    const std::int64_t blocks = std::max(1, multiprocessors) * kBlocksPerMultiprocessor;
    const std::int64_t share = std::max(kLeastKeys, ceil_div(total, blocks));
    for (const Tile& tile : tiles) {
      const std::int64_t pieces = std::max<std::int64_t>(1, (tile.keys() + share / 2) / share);
      chunks.push_back(round_up(ceil_div(tile.keys(), pieces), kRoundKeys));
    }
    return chunks;
  }
  if (batch.forward_mode != ForwardMode::kDecode) {
    for (const Tile& tile : tiles) chunks.push_back(tile.keys());
    return chunks;
  }
  std::vector<std::int32_t> dynamic;
  if (rule == SplitRule::kDynamic) {
    std::vector<std::int32_t> lens(static_cast<std::size_t>(batch.batch_size), 1);
    for (const Tile& tile : tiles) {
      auto& len = lens[static_cast<std::size_t>(tile.item.request)];
      len = std::max(len, narrow_i32(tile.keys()));
    }
    dynamic = dynamic_kv_splits(lens, {.heads_q = layer.heads_q,
                                       .heads_kv = layer.heads_kv,
                                       .max_splits = kMaxTritonSplits,
                                       .multiprocessors = multiprocessors});
  }
  for (const Tile& tile : tiles) {
    switch (rule) {
      case SplitRule::kFixedTile:
        chunks.push_back(256);
        break;
      case SplitRule::kDynamic:
        chunks.push_back(
            kv_split_chunk(tile.keys(), dynamic[static_cast<std::size_t>(tile.item.request)]));
        break;
      default:
        chunks.push_back(kv_split_chunk(tile.keys(), stepped_kv_splits(tile.keys())));
    }
  }
  return chunks;
}

void cut(SplitKvPlan& plan, const Tile& tile, std::int64_t chunk) {
  const std::int64_t pieces = tile.keys() > chunk ? ceil_div(tile.keys(), chunk) : 1;
  if (pieces == 1) {
    plan.items.push_back(tile.item);
    return;
  }
  SplitKvItem item = tile.item;
  item.splits = narrow_i32(pieces);
  item.tile = plan.tiles++;
  item.first_partial = plan.partials;
  plan.partial_rows = std::max(plan.partial_rows, item.rows);
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    item.key_begin = narrow_i32(tile.item.key_begin + piece * chunk);
    item.key_end = narrow_i32(
        std::min<std::int64_t>(tile.item.key_end, tile.item.key_begin + (piece + 1) * chunk));
    item.partial = plan.partials++;
    plan.items.push_back(item);
  }
}

}  // namespace

SplitKvPlan plan_splitkv(const ForwardBatch& batch, const AttentionLayer& layer, SplitRule rule,
                         int multiprocessors) {
  SplitKvPlan plan;
  std::int64_t most_rows = 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    most_rows = std::max(most_rows, batch.q_len(r) * layer.group_size());
  }
  // Which kernel a request meets may depend on its batch only where the splits do too.
  const bool any_kernel = rule == SplitRule::kFill || batch.forward_mode == ForwardMode::kDecode;
  plan.many_rows = most_rows > kSplitKvFewRows || !any_kernel;
  const std::vector<Tile> tiles =
      tiles_of(batch, layer, plan.many_rows ? kSplitKvManyRows : kSplitKvFewRows);
  const auto chunks = chunks_of(tiles, batch, layer, rule, multiprocessors);
  for (std::size_t i = 0; i < tiles.size(); ++i) cut(plan, tiles[i], chunks[i]);
  // Longest first keeps the last blocks' finishing times close.
  std::ranges::stable_sort(plan.items, [](const SplitKvItem& a, const SplitKvItem& b) {
    return a.key_end - a.key_begin > b.key_end - b.key_begin;
  });
  return plan;
}

}  // namespace attnbench
