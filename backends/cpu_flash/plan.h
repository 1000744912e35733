// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "lib/batch/forward_batch.h"
#include "lib/model/attention_layer.h"

namespace attnbench::cpu_flash {

/// Rows of one request that share a KV head, counted token * group_size + head within the group.
/// What one thread computes in one go: rows [row_begin, row_end) over keys [key_begin, key_end). Of
/// a layer with a selection these count along the list of the rows' token: `unit` for each entry,
/// also for one that is none.
struct Item {
  std::int64_t request = 0;
  int kv_head = 0;
  std::int64_t row_begin = 0, row_end = 0;
  std::int64_t key_begin = 0, key_end = 0;
  std::int64_t partial = -1;  ///< first row among the partial results; -1: writes the output itself

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

  std::vector<Item> items;
  std::vector<Merge> merges;
  std::int64_t partial_rows = 0;
  std::int64_t max_rows = 0;  ///< of an item
  std::int64_t max_keys = 0;  ///< likewise

  /// Keys converted and scored at once, a multiple of which every split is; wide rows take fewer,
  /// so that the tile stays in a core's second-level cache.
  [[nodiscard]] static std::int64_t tile_keys(const AttentionLayer& layer) {
    return layer.head_dim_qk > 256 ? 32 : 64;
  }
};

/// Keys of a piece where keys are split, and what else may be tried.
inline constexpr std::int64_t kSplitKeys = 512;
inline constexpr std::int64_t kTriedSplitKeys[] = {128, 256, 512, 1024, 2048};

[[nodiscard]] WorkPlan plan_work(const ForwardBatch& batch, const AttentionLayer& layer,
                                 std::int64_t split_keys = kSplitKeys);

}  // namespace attnbench::cpu_flash
