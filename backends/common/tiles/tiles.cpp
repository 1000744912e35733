// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/tiles/tiles.h"

#include <algorithm>
#include <cstddef>

#include "backends/common/visibility.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/batch/graph_padding.h"

namespace attnbench::tiles {
namespace {

struct KeyRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Keys that some token of [first, last] sees. Later tokens never see less at the end nor more at
/// the beginning, but for the nodes of a draft tree, whose positions follow no order.
KeyRange keys_seen(const ForwardBatch& batch, const AttentionLayer& layer, std::int64_t r,
                   std::int64_t first, std::int64_t last) {
  const Visibility seen = visibility_of(batch, layer, r, first);
  KeyRange range{seen.begin, last == first ? seen.end : visibility_of(batch, layer, r, last).end};
  const bool by_depth =
      layer.sliding_window_size >= 0 && layer.window_in_trees == WindowInTrees::kDepth;
  if (seen.mask != nullptr && by_depth) {
    for (std::int64_t t = first + 1; t <= last; ++t) {
      range.begin = std::min(range.begin, visibility_of(batch, layer, r, t).begin);
    }
  }
  range.begin = std::min(range.begin, range.end);
  return range;
}

/// Rows [begin, end) of one token of the request that `tile` describes.
Item tile_of_list(Item tile, const AttentionLayer& layer, std::int64_t begin, std::int64_t end) {
  const std::int64_t token = begin / layer.group_size();
  const std::int64_t keys_so_far = tile.kv_len - tile.q_len + token + 1;
  tile.q_begin = narrow_i32(tile.q_begin + token);
  tile.q_len = 1;
  tile.kv_len = narrow_i32(std::max<std::int64_t>(keys_so_far, 0));
  tile.row_begin = narrow_i32(begin % layer.group_size());
  tile.rows = narrow_i32(end - begin);
  tile.key_begin = 0;
  tile.key_end = narrow_i32(most_gathered_keys(layer, tile.kv_len));
  // Its keys are the list's, from the first to the last: one that repeats units has more of them
  // than the query sees.
  tile.kv_len = std::max(tile.kv_len, tile.key_end);
  tile.list = narrow_i32(std::int64_t{tile.q_begin} * layer.selection_groups());
  return tile;
}

}  // namespace

std::int64_t most_gathered_keys(const AttentionLayer& layer, std::int64_t kv_len) {
  const Selection& selection = layer.selection;
  if (layer.compress_ratio == 0) {
    const std::int64_t of_all = selection.topk * std::min(selection.unit, kv_len);
    return selection.repeats() ? of_all : std::min(of_all, kv_len);
  }
  const std::int64_t window = layer.sliding_window_size;
  const std::int64_t tokens = window < 0 ? kv_len : std::min(window + 1, kv_len);
  const std::int64_t rows = layer.compressed_rows(kv_len);
  if (!selection.exists()) return tokens + rows;
  return tokens + (selection.repeats() ? selection.topk : std::min(selection.topk, rows));
}

std::vector<Item> tiles_of(const ForwardBatch& batch, const AttentionLayer& layer,
                           std::int64_t tile_rows) {
  const std::int64_t group = layer.group_size();
  const auto rows_of = [&](std::int64_t r) {
    return is_padding(batch, r) ? 0 : batch.q_len(r) * group;
  };
  std::int64_t count = 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) count += ceil_div(rows_of(r), tile_rows);
  std::vector<Item> tiles;
  tiles.reserve(static_cast<std::size_t>(count));
  Item tile;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    tile.request = narrow_i32(r);
    tile.kv_len = narrow_i32(batch.kv_len(r));
    tile.q_len = narrow_i32(batch.q_len(r));
    const std::int64_t rows = rows_of(r);
    for (std::int64_t begin = 0, end = 0; begin < rows; begin = end) {
      end = tile_end(batch, layer, r, begin, rows_of_one_list(layer, begin, tile_rows));
      if (layer.gathers_keys()) {
        tiles.push_back(tile_of_list(tile, layer, begin, end));
        continue;
      }
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

}  // namespace attnbench::tiles
