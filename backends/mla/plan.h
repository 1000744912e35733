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

/// Tiles of all requests, each over all keys that some of its rows see. Padding has none.
[[nodiscard]] std::vector<SplitKvItem> mla_tiles(const ForwardBatch& batch,
                                                 const AttentionLayer& layer, int lanes);
/// Blocks that should share a tile's keys: 2 where requests have more than 64 rows.
[[nodiscard]] int mla_lanes(const ForwardBatch& batch, const AttentionLayer& layer);
/// Where all requests have this many rows.
[[nodiscard]] int mla_lanes(std::int64_t rows);

[[nodiscard]] MlaPlan plan_mla(const std::vector<SplitKvItem>& tiles, int lanes,
                               int multiprocessors);

/// What a plan takes up in memory, or the most that any of several takes up.
struct MlaRoom {
  std::int64_t items = 0;
  std::int64_t tiles = 0;   ///< that are split and merge themselves: splitkv's
  std::int64_t parts = 0;   ///< 0: splitkv's
  std::int64_t merges = 0;  ///< split tiles that another kernel merges
  std::int64_t partials = 0;
  std::int32_t partial_rows = 0;
};
[[nodiscard]] MlaRoom most_of(const MlaRoom& a, const MlaRoom& b);

/// Room for plan_mla() of any batch of `requests` requests with `rows` rows each: what a CUDA graph
/// is captured with.
[[nodiscard]] MlaRoom mla_room(std::int64_t requests, std::int64_t rows, int multiprocessors);

}  // namespace attnbench
