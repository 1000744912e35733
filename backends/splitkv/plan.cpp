// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/splitkv/plan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "backends/common/visibility.h"
#include "backends/splitkv/launch.h"
#include "lib/base/narrow.h"
#include "lib/index/kv_splits.h"

namespace attnbench {
namespace {

/// Triton's kernels: max_kv_splits unless told otherwise.
constexpr std::int64_t kMaxTritonSplits = 8;

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

/// Tiles of KV head 0 over all their keys.
std::vector<SplitKvItem> tiles_of(const ForwardBatch& batch, const AttentionLayer& layer,
                                  std::int64_t tile_rows) {
  std::vector<SplitKvItem> tiles;
  const std::int64_t group = layer.group_size();
  SplitKvItem tile;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    const std::int64_t rows = batch.q_len(r) * group;
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
    const EqualShares shares(keys_of(tiles) * layer.heads_kv, multiprocessors);
    for (const SplitKvItem& tile : tiles) chunks.push_back(shares.chunk(keys_of(tile)));
    return chunks;
  }
  if (batch.forward_mode != ForwardMode::kDecode) {
    for (const SplitKvItem& tile : tiles) chunks.push_back(keys_of(tile));
    return chunks;
  }
  std::vector<std::int32_t> dynamic;
  if (rule == SplitRule::kDynamic) {
    std::vector<std::int32_t> lens(static_cast<std::size_t>(batch.batch_size), 1);
    for (const SplitKvItem& tile : tiles) {
      auto& len = lens[static_cast<std::size_t>(tile.request)];
      len = std::max(len, narrow_i32(keys_of(tile)));
    }
    dynamic = dynamic_kv_splits(lens, {.heads_q = layer.heads_q,
                                       .heads_kv = layer.heads_kv,
                                       .max_splits = kMaxTritonSplits,
                                       .multiprocessors = multiprocessors});
  }
  for (const SplitKvItem& tile : tiles) {
    switch (rule) {
      case SplitRule::kFixedTile:
        chunks.push_back(256);
        break;
      case SplitRule::kDynamic:
        chunks.push_back(
            kv_split_chunk(keys_of(tile), dynamic[static_cast<std::size_t>(tile.request)]));
        break;
      default:
        chunks.push_back(kv_split_chunk(keys_of(tile), stepped_kv_splits(keys_of(tile))));
    }
  }
  return chunks;
}

}  // namespace

SplitKvPlan plan_splitkv(const ForwardBatch& batch, const AttentionLayer& layer, SplitRule rule,
                         int multiprocessors) {
  std::int64_t most_rows = 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    most_rows = std::max(most_rows, batch.q_len(r) * layer.group_size());
  }
  // Which kernel a request meets may depend on its batch only where the splits do too.
  const bool any_kernel = rule == SplitRule::kFill || batch.forward_mode == ForwardMode::kDecode;
  SplitKvPlanner planner(most_rows > kSplitKvFewRows || !any_kernel);
  const std::vector<SplitKvItem> tiles = tiles_of(batch, layer, planner.tile_rows());
  const std::vector<std::int64_t> chunks = chunks_of(tiles, batch, layer, rule, multiprocessors);
  for (std::size_t i = 0; i < tiles.size(); ++i) planner.add(tiles[i], chunks[i]);
  return std::move(planner).finish(layer.heads_kv);
}

}  // namespace attnbench
