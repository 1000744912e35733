// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/mla/params.h"
#include "lib/batch/forward_batch.h"
#include "lib/model/attention_layer.h"

namespace attnbench::mla {

/// A piece of a tile: steps [begin, end).
struct Piece {
  std::size_t tile = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// The pieces of each part. Parts run side by side, on one multiprocessor (or several) each.
struct Schedule {
  std::vector<Piece> pieces;            ///< part after part
  std::vector<std::size_t> part_begin;  ///< [parts + 1]
  std::int64_t longest = 0;             ///< steps of the part with most to do, starts included
};

/// Shares tiles of `steps[i]` steps out to parts so that all end about together: whole tiles, the
/// longest first, each to a part that has least to do; or, where that ends sooner although pieces
/// have to be merged, equal parts in the order of the tiles, as FlashMLA's scheduler does
/// (get_mla_metadata). Costs are those of an H200.
[[nodiscard]] Schedule make_schedule(const std::vector<std::int64_t>& steps, std::size_t parts);

/// What a plan takes up in memory, or the most that any of several takes up.
struct Room {
  std::int64_t items = 0;
  std::int64_t parts = 0;     ///< of kernels that have them: has_parts()
  std::int64_t merges = 0;    ///< tiles that were split
  std::int64_t partials = 0;  ///< results that wait for the merge
  std::int32_t partial_rows = 0;
};
[[nodiscard]] Room most_of(const Room& a, const Room& b);

/// Work of one batch.
struct WorkPlan {
  std::vector<Item> items;               ///< part after part, or else longest first
  std::vector<std::int32_t> part_begin;  ///< [parts + 1] first item of each part
  std::vector<Item> merges;              ///< split tiles; splits and first_partial find the pieces
  int lanes = 1;                         ///< blocks of warpgroups that share a tile's keys
  std::int32_t partials = 0;             ///< results that wait for the merge
  std::int32_t partial_rows = 0;         ///< rows kept for each

  [[nodiscard]] Room room() const;
};

/// For kernels that have parts: parts that take about equally long, one multiprocessor (or `lanes`
/// of them, 64 rows each) for each part. For the others: a block per item, cut as splitkv's.
/// Padding requests have no work.
[[nodiscard]] WorkPlan plan_work(const ForwardBatch& batch, const AttentionLayer& layer,
                                 TileKind tile, int multiprocessors);

/// Keys that a tile can have in a step within `limits`, of a causal layer.
[[nodiscard]] std::int64_t most_keys(const AttentionLayer& layer, const StepLimits& limits);
/// Room for the plan of any batch of `requests` requests with `rows` rows and up to `keys` keys
/// each: what a CUDA graph is captured with. It has none for merges where no tile is split.
[[nodiscard]] Room room_for(TileKind tile, std::int64_t requests, std::int64_t rows,
                            std::int64_t keys, int multiprocessors);

/// Blocks that should share a tile's keys: 2 where requests have more than 64 rows.
[[nodiscard]] int lanes_of(const ForwardBatch& batch, const AttentionLayer& layer);
/// Where all requests have this many rows.
[[nodiscard]] int lanes_of(std::int64_t rows);

}  // namespace attnbench::mla
