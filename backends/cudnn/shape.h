// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "lib/backend/support.h"
#include "lib/base/dtype.h"
#include "lib/batch/forward_batch.h"
#include "lib/batch/problem.h"

namespace attnbench::cudnn {

/// Elements from one token of a [tokens, heads, dim] tensor to the next, and from one head to the
/// next. Rows are contiguous.
struct RowStrides {
  std::int64_t token = 0, head = 0;
  friend auto operator<=>(const RowStrides&, const RowStrides&) = default;
};

/// K or V as the kernel finds it: pages of the cache, or this step's own keys, where `page` is 0.
struct CacheStrides {
  std::int64_t page = 0;
  RowStrides row;
  friend auto operator<=>(const CacheStrides&, const CacheStrides&) = default;
};

/// All that cuDNN builds into a plan. Lengths, page tables, addresses, the scale and the width of a
/// window are given anew to each run.
struct AttentionShape {
  DType dtype = DType::kBF16;    ///< of Q, K, V and O
  std::int64_t requests = 0;     ///< B
  std::int64_t q_len = 0;        ///< of the request with the most query tokens
  std::int64_t kv_len = 0;       ///< of the request with the most keys, rounded up to whole pages
  std::int64_t heads_q = 0;      ///< Hq
  std::int64_t heads_kv = 0;     ///< Hkv
  std::int64_t head_dim_qk = 0;  ///< dk
  std::int64_t head_dim_v = 0;   ///< dv
  std::int64_t num_pages = 0;    ///< of the cache; 0: K and V are this step's own
  std::int64_t page_size = 0;    ///< tokens; 0 likewise
  bool ragged = false;           ///< requests differ in their number of query tokens
  bool hides_before = false;     ///< keys before a window are masked
  bool hides_ahead = false;      ///< keys behind the query's own place are masked
  bool sees_ahead = false;       ///< but not those of a window that lie there
  bool scales_values = false;    ///< V is multiplied with a number
  bool sinks = false;
  RowStrides q, out, lse;
  CacheStrides k, v;

  [[nodiscard]] bool paged() const { return page_size > 0; }
  /// Entries of a row of the page table.
  [[nodiscard]] std::int64_t pages_per_request() const { return kv_len / page_size; }
  friend auto operator<=>(const AttentionShape&, const AttentionShape&) = default;
};

/// The shape of a step or, of a recorded problem, of every step within its limits. A step of
/// prompts whose requests have no cached prefix reads k_new and v_new, as engines do, and not the
/// cache, unless the cache has a scale.
[[nodiscard]] AttentionShape shape_of(const ForwardBatch& batch);

/// What cuDNN 9.12 and later compute on sm_90 and this backend asks them for. Needs no cuDNN.
[[nodiscard]] Support supports(const Problem& problem);

}  // namespace attnbench::cudnn
