// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu_flash/plan.h"

#include <algorithm>

#include "backends/common/visibility.h"
#include "backends/cpu_flash/gathered_keys.h"
#include "lib/base/int_math.h"

namespace attnbench::cpu_flash {
namespace {

/// Rows of a tile, about as many in the last as in the others, in steps that fill a core's
/// registers.
std::int64_t tile_rows(std::int64_t rows) {
  constexpr std::int64_t kStep = 16;
  const std::int64_t tiles = (rows + WorkPlan::kTileRows - 1) / WorkPlan::kTileRows;
  if (tiles <= 1) return WorkPlan::kTileRows;
  return ((rows + tiles - 1) / tiles + kStep - 1) / kStep * kStep;
}

void add_item(WorkPlan& plan, const Item& item) {
  plan.items.push_back(item);
  plan.max_rows = std::max(plan.max_rows, item.rows());
  plan.max_keys = std::max(plan.max_keys, item.key_end - item.key_begin);
  plan.max_heads = std::max(plan.max_heads, item.kv_heads);
}

void plan_tile(WorkPlan& plan, Item tile, bool may_split, std::int64_t split_keys) {
  const std::int64_t first = tile.key_begin / split_keys;
  const std::int64_t last = (tile.key_end + split_keys - 1) / split_keys;
  const std::int64_t splits = last - first;
  if (!may_split || splits <= 1) {
    add_item(plan, tile);
    return;
  }
  tile.partial_step = splits * tile.rows();
  for (std::int64_t split = first; split < last; ++split) {
    Item item = tile;
    item.key_begin = std::max(tile.key_begin, split * split_keys);
    item.key_end = std::min(tile.key_end, (split + 1) * split_keys);
    item.partial = plan.partial_rows + (split - first) * tile.rows();
    add_item(plan, item);
  }
  for (int head = tile.kv_head; head < tile.kv_head + tile.kv_heads; ++head) {
    plan.merges.push_back(
        {tile.request, head, tile.row_begin, tile.row_end, plan.partial_rows, splits});
    plan.partial_rows += tile.partial_step;
  }
}

/// Sets the keys that some row of the tile sees.
void set_keys(Item& tile, const ForwardBatch& batch, const AttentionLayer& layer) {
  const std::int64_t group = layer.group_size();
  tile.key_begin = batch.kv_len(tile.request);
  tile.key_end = 0;
  for (std::int64_t t = tile.row_begin / group; t <= (tile.row_end - 1) / group; ++t) {
    const Visibility seen = visibility_of(batch, layer, tile.request, t);
    tile.key_begin = std::min(tile.key_begin, seen.begin);
    tile.key_end = std::max(tile.key_end, seen.end);
  }
  tile.key_begin = std::min(tile.key_begin, tile.key_end);
}

/// The same of a list of chosen keys, which may be the KV head's own.
void set_chosen_keys(Item& tile, const ForwardBatch& batch, const AttentionLayer& layer) {
  tile.key_begin = 0;
  tile.key_end =
      keys_of_list(batch, layer, tile.request, tile.row_begin, tile.kv_head) +
      window_beside_list(batch, layer, tile.request, tile.row_begin, tile.kv_head).size();
}

bool has_few_rows(const ForwardBatch& batch, const AttentionLayer& layer, std::int64_t request) {
  return batch.q_len(request) * layer.group_size() <= kDirectRows;
}

/// KV heads of an item of few rows: as many as leave several items for each thread.
int heads_together(const ForwardBatch& batch, const AttentionLayer& layer,
                   const std::vector<Item>& tiles, std::int64_t split_keys, int threads) {
  if (threads == 0) return 1;
  constexpr std::int64_t kItemsOfThread = 4;  // the last ones end at different times
  std::int64_t pieces = 0;
  for (const Item& tile : tiles) {
    if (!has_few_rows(batch, layer, tile.request)) continue;
    pieces += ceil_div(tile.key_end, split_keys) - tile.key_begin / split_keys;
  }
  std::int64_t groups = ceil_div(layer.heads_kv, WorkPlan::kMostHeads);
  while (groups < layer.heads_kv && pieces * groups < kItemsOfThread * threads) groups *= 2;
  return static_cast<int>(ceil_div(layer.heads_kv, std::min<std::int64_t>(groups, layer.heads_kv)));
}

/// Rows of each request with the keys that they see, of any KV head.
std::vector<Item> tiles_of_rows(const ForwardBatch& batch, const AttentionLayer& layer) {
  std::vector<Item> tiles;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    const std::int64_t rows = batch.q_len(r) * layer.group_size();
    const std::int64_t step = tile_rows(rows);
    for (std::int64_t begin = 0, end = 0; begin < rows; begin = end) {
      end = tile_end(batch, layer, r, begin, rows_of_one_list(layer, begin, step));
      Item& tile = tiles.emplace_back();
      tile.request = r;
      tile.row_begin = begin;
      tile.row_end = end;
      set_keys(tile, batch, layer);
    }
  }
  return tiles;
}

}  // namespace

WorkPlan plan_work(const ForwardBatch& batch, const AttentionLayer& layer, std::int64_t split_keys,
                   int threads_of_whole_rows) {
  WorkPlan plan;
  const std::vector<Item> tiles = tiles_of_rows(batch, layer);
  const int together = heads_together(batch, layer, tiles, split_keys, threads_of_whole_rows);
  for (Item tile : tiles) {
    const std::int64_t rows = batch.q_len(tile.request) * layer.group_size();
    const int heads = has_few_rows(batch, layer, tile.request) ? together : 1;
    for (tile.kv_head = 0; tile.kv_head < layer.heads_kv; tile.kv_head += heads) {
      tile.kv_heads = std::min(heads, layer.heads_kv - tile.kv_head);
      if (layer.gathers_keys()) set_chosen_keys(tile, batch, layer);
      plan_tile(
          plan, tile, rows <= WorkPlan::kMaxSplitRows,
          layer.selection.weighs_units() ? round_up(split_keys, layer.selection.unit) : split_keys);
    }
  }
  // Longest first keeps the threads' finishing times close. Stable: neighbours share K and V.
  std::ranges::stable_sort(plan.items, [](const Item& a, const Item& b) {
    return a.kv_heads * a.rows() * (a.key_end - a.key_begin) >
           b.kv_heads * b.rows() * (b.key_end - b.key_begin);
  });
  return plan;
}

}  // namespace attnbench::cpu_flash
