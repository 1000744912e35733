// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu_flash/plan.h"

#include <algorithm>

#include "backends/common/visibility.h"

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
}

void plan_tile(WorkPlan& plan, Item tile, bool may_split, std::int64_t split_keys) {
  const std::int64_t first = tile.key_begin / split_keys;
  const std::int64_t last = (tile.key_end + split_keys - 1) / split_keys;
  const std::int64_t splits = last - first;
  if (!may_split || splits <= 1) {
    add_item(plan, tile);
    return;
  }
  plan.merges.push_back(
      {tile.request, tile.kv_head, tile.row_begin, tile.row_end, plan.partial_rows, splits});
  for (std::int64_t split = first; split < last; ++split) {
    Item item = tile;
    item.key_begin = std::max(tile.key_begin, split * split_keys);
    item.key_end = std::min(tile.key_end, (split + 1) * split_keys);
    item.partial = plan.partial_rows;
    plan.partial_rows += tile.rows();
    add_item(plan, item);
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
  const int group = layer.group_size();
  const std::int64_t token = first_token(batch, tile.request) + tile.row_begin / group;
  const int list = layer.selection_group(tile.kv_head * group);
  tile.key_begin = 0;
  tile.key_end = std::ssize(batch.chosen->list(token, list)) * batch.chosen->unit;
}

}  // namespace

WorkPlan plan_work(const ForwardBatch& batch, const AttentionLayer& layer,
                   std::int64_t split_keys) {
  WorkPlan plan;
  const std::int64_t group = layer.group_size();
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    const std::int64_t rows = batch.q_len(r) * group;
    const std::int64_t step = tile_rows(rows);
    for (std::int64_t begin = 0, end = 0; begin < rows; begin = end) {
      end = tile_end(batch, layer, r, begin, rows_of_one_list(layer, begin, step));
      Item tile;
      tile.request = r;
      tile.row_begin = begin;
      tile.row_end = end;
      set_keys(tile, batch, layer);
      for (tile.kv_head = 0; tile.kv_head < layer.heads_kv; ++tile.kv_head) {
        if (batch.chosen) set_chosen_keys(tile, batch, layer);
        plan_tile(plan, tile, rows <= WorkPlan::kMaxSplitRows, split_keys);
      }
    }
  }
  // Longest first keeps the threads' finishing times close. Stable: neighbours share K and V.
  std::ranges::stable_sort(plan.items, [](const Item& a, const Item& b) {
    return a.rows() * (a.key_end - a.key_begin) > b.rows() * (b.key_end - b.key_begin);
  });
  return plan;
}

}  // namespace attnbench::cpu_flash
