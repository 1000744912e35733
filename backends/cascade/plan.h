// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "backends/splitkv/planner.h"
#include "lib/batch/forward_batch.h"
#include "lib/model/attention_layer.h"

namespace attnbench::cascade {

/// Neighbouring requests [begin, end) whose first `length` keys lie in the same slots.
struct SharedRun {
  std::int64_t begin = 0, end = 0;
  std::int64_t length = 0;  ///< 0: a request on its own
};

/// Every request in one run, in order. Runs of two or more share a prefix that all their new tokens
/// see whole. A slot holds one token after one history (so it is in SGLang's radix tree, and in
/// vLLM's blocks, whose hashes include their parents'): requests that share a key share all before
/// it, and a binary search finds where they diverge.
[[nodiscard]] std::vector<SharedRun> shared_runs(const ForwardBatch& batch);

/// Rows of a request in a run, KV head 0: where their partial results wait. Row i's suffix is row i
/// of its pieces; among the rows of its run, all requests' one after another, it is prefix_row + i.
struct alignas(16) MergeTile {
  std::int32_t q_begin = 0;    ///< qo_indptr[request]
  std::int32_t row_begin = 0;  ///< as in splitkv::Item
  std::int32_t rows = 0;
  std::int32_t suffix_first = 0;  ///< partial results
  std::int32_t suffix_count = 0;
  std::int32_t prefix_row = 0;
  std::int32_t prefix_first = 0;  ///< of the run's first tile; each tile has `prefix_count`
  std::int32_t prefix_count = 0;
};

/// Two work lists for splitkv's kernels and a merge. Rows of a run count as one long request's, so
/// that a tile of the prefix pass holds rows of many requests. A request on its own is all suffix,
/// and needs no merge.
struct WorkPlan {
  splitkv::WorkPlan prefix, suffix;
  std::vector<MergeTile> tiles;
};

[[nodiscard]] WorkPlan plan_work(const ForwardBatch& batch, const AttentionLayer& layer,
                                 int multiprocessors);

}  // namespace attnbench::cascade
