// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "backends/splitkv/work_list.h"
#include "lib/batch/forward_batch.h"
#include "lib/model/attention_layer.h"

namespace attnbench {

/// Neighbouring requests [begin, end) whose first `length` keys lie in the same slots.
struct SharedRun {
  std::int64_t begin = 0, end = 0;
  std::int64_t length = 0;  ///< 0: a request on its own
};

/// Every request in one run, in order. Runs of two or more share a prefix that all their new tokens
/// see whole.
[[nodiscard]] std::vector<SharedRun> shared_runs(const ForwardBatch& batch);

/// Where the partial results of one output row wait: `count` rows, `step` apart, from `first`.
struct PartialRows {
  std::int32_t first = 0;
  std::int32_t step = 0;
  std::int32_t count = 0;
};

/// What the merge needs of one (token, query head).
struct CascadeRow {
  PartialRows prefix;  ///< count 0 without a shared prefix
  PartialRows suffix;
};

/// Two work lists for splitkv's kernels and a merge. Rows of a run count as one long request's, so
/// that a tile of the prefix pass holds rows of many requests.
struct CascadePlan {
  std::vector<SplitKvItem> prefix_items, suffix_items;
  bool many_prefix_rows = false, many_suffix_rows = false;  ///< tiles of 64 rows, else of 16
  std::int64_t prefix_partials = 0, suffix_partials = 0;
  std::vector<CascadeRow> rows;  ///< [T, heads_q]

  [[nodiscard]] std::int64_t prefix_rows() const { return many_prefix_rows ? 64 : 16; }
  [[nodiscard]] std::int64_t suffix_rows() const { return many_suffix_rows ? 64 : 16; }
  /// Rows of partial results, the prefix's first.
  [[nodiscard]] std::int64_t partial_rows() const {
    return prefix_partials * prefix_rows() + suffix_partials * suffix_rows();
  }
};

[[nodiscard]] CascadePlan plan_cascade(const ForwardBatch& batch, const AttentionLayer& layer,
                                       int multiprocessors);

}  // namespace attnbench
