// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "backends/splitkv/work_list.h"
#include "lib/batch/forward_batch.h"
#include "lib/model/attention_layer.h"

namespace attnbench {

/// Work of the kernel with wgmma: parts that take about equally long, one multiprocessor (or
/// `lanes` of them, 64 rows each) for each part.
struct MlaPlan {
  int lanes = 1;                         ///< a tile has up to 64 * lanes rows
  std::vector<SplitKvItem> items;        ///< part after part
  std::vector<std::int32_t> part_begin;  ///< [parts + 1] first item of each part
  std::vector<SplitKvItem> merges;       ///< split tiles; splits and first_partial find the pieces
  std::int32_t partials = 0;             ///< results that wait for the merge
  std::int32_t partial_rows = 0;         ///< rows kept for each
};

/// Tiles of all requests, each over all keys that some of its rows see.
[[nodiscard]] std::vector<SplitKvItem> mla_tiles(const ForwardBatch& batch,
                                                 const AttentionLayer& layer, int lanes);
/// Blocks that should share a tile's keys: 2 where requests have more than 64 rows.
[[nodiscard]] int mla_lanes(const ForwardBatch& batch, const AttentionLayer& layer);

[[nodiscard]] MlaPlan plan_mla(const std::vector<SplitKvItem>& tiles, int lanes,
                               int multiprocessors);

}  // namespace attnbench
