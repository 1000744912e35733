// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/base/error.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {

/// Slots of tokens start .. start + len - 1 of request r.
[[nodiscard]] inline std::span<const std::int32_t> request_tokens(const ForwardBatch& batch,
                                                                  std::int64_t r,
                                                                  std::int64_t start,
                                                                  std::int64_t len) {
  expects(batch.req_to_token_pool != nullptr, "a batch without its req_to_token_pool");
  const auto row =
      batch.req_to_token_pool->row(batch.req_pool_indices[static_cast<std::size_t>(r)]);
  expects(start >= 0 && len >= 0 && start + len <= static_cast<std::int64_t>(row.size()),
          "a request is longer than its row in the pool");
  return row.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(len));
}

/// Which keys of each request an index array lists: tokens start[r] .. start[r] + len[r] - 1 of its
/// row in req_to_token_pool.
struct KvSpans {
  std::vector<std::int32_t> start;  ///< [B]
  std::vector<std::int32_t> len;    ///< [B]
};
/// All keys, this step's own included.
[[nodiscard]] KvSpans whole_spans(const ForwardBatch& batch);
/// What was in the cache before this step: prefix_lens, or the committed part for target_verify.
[[nodiscard]] KvSpans prefix_spans(const ForwardBatch& batch);
/// The keys that any query of this step can see through a sliding window of `window` previous
/// tokens: the last min(kv_len, window + q_len). window = -1: all keys.
[[nodiscard]] KvSpans window_spans(const ForwardBatch& batch, std::int64_t window);

/// FlashInfer's and Triton's index format. kv_len = page_size * (pages - 1) + kv_last_page_len; a
/// request without pages has no keys, whatever its kv_last_page_len (1).
struct CsrIndices {
  std::vector<std::int32_t> kv_indptr;         ///< [B + 1], in pages
  std::vector<std::int32_t> kv_indices;        ///< pages; token slots for page_size 1
  std::vector<std::int32_t> kv_last_page_len;  ///< [B]
};

/// Indices of all keys of each request. Needs batch.req_to_token_pool.
[[nodiscard]] CsrIndices build_csr(const ForwardBatch& batch, std::int64_t page_size);

/// Token slots (page_size 1) of a part of each request's keys: indptr from the lengths, then a
/// gather from req_to_token_pool (SGLang's create_flashinfer_kv_indices).
[[nodiscard]] CsrIndices build_csr(const ForwardBatch& batch, const KvSpans& spans);

/// [B + 1] exclusive sum of the query tokens of each request, total last.
[[nodiscard]] std::vector<std::int32_t> qo_indptr(const ForwardBatch& batch);

/// FlashAttention's varlen description of a batch.
struct Varlen {
  std::vector<std::int32_t> cu_seqlens_q;  ///< [B + 1]
  std::vector<std::int32_t> cu_seqlens_k;  ///< [B + 1]; equals cu_seqlens_q where nothing is cached
  std::int64_t max_seqlen_q = 0;
  std::int64_t max_seqlen_k = 0;
};
[[nodiscard]] Varlen build_varlen(const ForwardBatch& batch);

}  // namespace attnbench
