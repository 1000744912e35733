// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/base/dtype.h"
#include "lib/batch/cache_format.h"
#include "lib/batch/forward_mode.h"
#include "lib/batch/fp8_activations.h"
#include "lib/batch/step_part.h"
#include "lib/model/attention_layer.h"

namespace attnbench {

struct ForwardBatch;

/// The largest step that a plan serves.
struct StepLimits {
  std::int64_t requests = 0;
  std::int64_t q_len = 0;     ///< query tokens of one request
  std::int64_t q_tokens = 0;  ///< rows of query tokens: of all requests, and of none (T)
  std::int64_t kv_len = 0;    ///< keys of one request, this step's own included

  /// Whether all requests have the same number of query tokens when the step is the largest one,
  /// and no row belongs to none.
  [[nodiscard]] bool is_uniform() const { return q_tokens == requests * q_len; }
  friend bool operator==(const StepLimits&, const StepLimits&) = default;
};

/// A description of the computation without any batch. From it alone a backend says whether it
/// supports the computation, which cache formats it reads, and where it rounds. Plain data.
struct Problem {
  AttentionLayer layer;
  DType dtype = DType::kBF16;  ///< of k_new and v_new, and of q and out where they are not in fp8
  CacheFormat cache;
  ForwardMode mode = ForwardMode::kDecode;
  StepPart step = StepPart::kAttention;
  StepLimits limits;
  bool multi_item = false;  ///< some request is scored by items: ForwardBatch::multi_item
  bool spans = false;       ///< some prompt has bidirectional spans: ForwardBatch::spans
  /// The cache is a window's own pool: entries of the request table, and of what follows from it,
  /// are 0 where they stand for keys that no query's window and chunk reach. Its rows are numbers.
  bool swa_pool = false;
  /// Some request has no keys, or more queries than keys: rows that see none are 0, their LSE -inf.
  bool empty_rows = false;
  /// A pass of a step that is computed in several: of the keys that a query sees, those before the
  /// step's own. Lengths and places are those of the whole step.
  bool prefix_alone = false;
  /// A target_verify step needs no tree: each of its draft trees is a chain, in which a node sees
  /// exactly the nodes before it and itself, plain causal attention of the nodes, aligned at the
  /// bottom right; or the layer is a cross layer, where each node sees all keys.
  bool drafts_are_chains = false;
  /// The launches of a plan are recorded once, as a CUDA graph, and replayed for other steps within
  /// `limits`, which Plan::update() brings. Otherwise a plan serves the step it was made for.
  bool recorded = false;
  Fp8Activations fp8;

  [[nodiscard]] DType q_dtype() const { return fp8.q.value_or(dtype); }
  [[nodiscard]] DType out_dtype() const { return fp8.out.value_or(dtype); }

  /// Whether one recording can serve many steps: engines pad decode and target_verify steps alone,
  /// and only where all requests have the same number of query tokens. The arrays of a part that
  /// attends to nothing are as long as those of one step.
  [[nodiscard]] bool can_be_recorded() const {
    return (attends(step) || !builds(step)) &&
           (mode == ForwardMode::kDecode || mode == ForwardMode::kTargetVerify) &&
           limits.is_uniform();
  }
};

/// Throws InternalError when `batch` is no step of `problem`: another mode, or beyond its limits.
void expect_step_of(const Problem& problem, const ForwardBatch& batch);

}  // namespace attnbench
