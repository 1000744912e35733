// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "lib/batch/forward_batch.h"
#include "lib/model/attention_layer.h"

namespace attnbench::cpu_flash {

/// Up to this many rows, a tile reads K and V where they are stored. For more rows a converted copy
/// is faster, and so are queries in panels.
inline constexpr std::int64_t kDirectRows = 8;

/// Rows of one request that share a KV head, counted token * group_size + head within the group.
/// What one thread computes in one go: rows [row_begin, row_end) over keys [key_begin, key_end). Of
/// a layer with a selection these count along the list of the rows' token: the keys of each entry,
/// also of one that is none, and behind them the keys of the window that the rows see. Where all
/// compressed rows are seen, they take the list's part. Where units are weighed, no item ends
/// inside of one.
struct Item {
  std::int64_t request = 0;
  int kv_head = 0;
  int kv_heads = 1;  ///< from kv_head on, each with these rows and keys
  std::int64_t row_begin = 0, row_end = 0;
  std::int64_t key_begin = 0, key_end = 0;
  std::int64_t partial = -1;  ///< first row among the partial results; -1: writes the output itself
  std::int64_t partial_step = 0;  ///< from a head's first row there to the next head's

  [[nodiscard]] std::int64_t rows() const { return row_end - row_begin; }
};

/// Rows whose keys were split: partial results [partial + split * rows, ...), merged in this order.
struct Merge {
  std::int64_t request = 0;
  int kv_head = 0;
  std::int64_t row_begin = 0, row_end = 0;
  std::int64_t partial = 0;
  std::int64_t splits = 0;
};

/// Work of one batch, the longest first. Tile and split boundaries of a request follow from its own
/// lengths only: alone or in a batch, on one thread or many, it gives the same bits.
struct WorkPlan {
  /// Most rows of an item. More rows would share each converted key, but would not fit into the
  /// cache beside it.
  static constexpr std::int64_t kTileRows = 96;
  /// Requests with more rows per KV head have tiles enough to be spread, and are not split.
  static constexpr std::int64_t kMaxSplitRows = 512;
  /// Most KV heads of an item. Two tiles of their keys and values stay in a core's second-level
  /// cache.
  static constexpr int kMostHeads = 8;

  std::vector<Item> items;
  std::vector<Merge> merges;
  std::int64_t partial_rows = 0;
  std::int64_t max_rows = 0;  ///< of an item
  std::int64_t max_keys = 0;  ///< likewise
  int max_heads = 1;          ///< likewise

  /// Keys that `rows` rows score at once, a multiple of which every split is. Wide rows take fewer,
  /// so that a converted tile stays in a core's second-level cache, and so do few rows, whose tile
  /// of all heads stays there beside the next one.
  [[nodiscard]] static std::int64_t tile_keys(const AttentionLayer& layer, std::int64_t rows) {
    return layer.head_dim_qk > 256 || rows <= kDirectRows ? 32 : 64;
  }
};

/// Keys of a piece where keys are split, and what else may be tried.
inline constexpr std::int64_t kSplitKeys = 512;
inline constexpr std::int64_t kTriedSplitKeys[] = {128, 256, 512, 1024, 2048};

/// `threads_of_whole_rows`: 0, an item has one KV head. Else a token's heads are neighbours in
/// memory, no keys are gathered, and an item of few rows has as many heads as leave work for so
/// many threads: whole rows are read faster than a part of each.
[[nodiscard]] WorkPlan plan_work(const ForwardBatch& batch, const AttentionLayer& layer,
                                 std::int64_t split_keys = kSplitKeys,
                                 int threads_of_whole_rows = 0);

}  // namespace attnbench::cpu_flash
