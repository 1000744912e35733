// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "backends/common/tiles/items.h"
#include "backends/paged_fa/launch.h"
#include "lib/batch/forward_batch.h"
#include "lib/model/attention_layer.h"

namespace attnbench::paged_fa {

/// Queries of one sequence over its keys; what planning has to know of a batch.
struct Sequence {
  std::int64_t q_len = 0;  ///< 0: a padding request, which has no work
  std::int64_t kv_len = 0;
  const std::int64_t* tree_positions = nullptr;  ///< [q_len] of a draft tree's nodes, or null
  std::int64_t first_token = 0;                  ///< among the batch's
};

/// A batch as the planner sees it.
struct PlanInput {
  std::vector<Sequence> sequences;
  int heads_kv = 1;
  int group = 1;  ///< query heads per KV head
  bool causal = true;
  std::int64_t block = 1;  ///< AttentionLayer::causal_block
  std::int64_t window = -1;
  bool window_by_depth = false;  ///< in draft trees
  std::int64_t chunk = 0;        ///< keys of a chunk, of which a query sees its own; 0: no chunks
  DualChunk dual_chunk;
  bool spans = false;              ///< some prompt has spans, or could have
  std::vector<std::int32_t> seen;  ///< [T, 2] of prompts with spans: Params::seen
  bool prefix_alone = false;       ///< Problem::prefix_alone
  bool many_rows = true;  ///< whether kernels of 128 rows exist for these types and head dims
  int multiprocessors = 1;
};
[[nodiscard]] PlanInput plan_input(const ForwardBatch& batch, const AttentionLayer& layer,
                                   bool many_rows, int multiprocessors);

/// Work of one batch: a launch per kind of tile, because a step may mix prompts and decodes.
struct WorkPlan {
  struct Launch {
    TileKind tile = TileKind::kFew;
    std::int32_t first_item = 0;
    std::int32_t num_items = 0;
    std::int32_t heads_together = 1;  ///< KV heads whose keys share the second-level cache
  };
  std::vector<Launch> launches;
  std::vector<Item> items;         ///< the longest of a launch first
  std::int32_t tiles = 0;          ///< that were split
  std::int32_t partials = 0;       ///< results that wait for a merge, per KV head
  std::int32_t partial_rows = 0;   ///< rows kept for each
  std::vector<std::int32_t> seen;  ///< the input's

  [[nodiscard]] tiles::Room room() const {
    return {static_cast<std::int64_t>(items.size()), tiles, partials, partial_rows};
  }
};
[[nodiscard]] WorkPlan plan_work(const PlanInput& problem);

/// Batches of `requests` sequences with `q_len` queries each, over any number of keys: what a CUDA
/// graph is captured with.
struct UniformPlan {
  /// Which of them a plan fills depends on its keys; the others' items are empty.
  std::vector<WorkPlan::Launch> launches;
  tiles::Room room;  ///< for all launches' items, and the plan of any of them
};
/// `like` gives the rest: heads, kernels and multiprocessors.
[[nodiscard]] UniformPlan uniform_plan(std::int64_t requests, std::int64_t q_len,
                                       const PlanInput& like);

/// Moves a plan's items to those of `uniform`'s launches that they belong to.
void place_in(const UniformPlan& uniform, WorkPlan& plan);

}  // namespace attnbench::paged_fa
