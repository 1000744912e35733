// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "lib/batch/forward_batch.h"

namespace attnbench {

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

}  // namespace attnbench
