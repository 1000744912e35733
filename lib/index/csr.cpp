// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/csr.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/batch/positions.h"

namespace attnbench {
namespace {

/// The last len(r) keys of each request, or the first ones.
template <class Length>
KvSpans spans_of(const ForwardBatch& batch, bool last, Length length) {
  KvSpans spans;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    const std::int64_t len = length(r);
    spans.start.push_back(narrow_i32(last ? batch.kv_len(r) - len : 0));
    spans.len.push_back(narrow_i32(len));
  }
  return spans;
}

}  // namespace

KvSpans whole_spans(const ForwardBatch& batch) {
  return spans_of(batch, false, [&](std::int64_t r) { return batch.kv_len(r); });
}

KvSpans prefix_spans(const ForwardBatch& batch) {
  expects(batch.encoder_lens.empty(), "cross attention has no prefix");
  const std::vector<std::int32_t>& lens =
      has_extend_lens(batch.forward_mode) ? batch.extend_prefix_lens : batch.seq_lens;
  return spans_of(batch, false, [&](std::int64_t r) { return lens[static_cast<std::size_t>(r)]; });
}

KvSpans window_spans(const ForwardBatch& batch, std::int64_t window) {
  if (window == -1) return whole_spans(batch);
  expects(window >= 0, "a negative sliding window");
  return spans_of(batch, true, [&](std::int64_t r) {
    return std::min(batch.kv_len(r), window + batch.q_len(r));
  });
}

CsrIndices build_csr(const ForwardBatch& batch, std::int64_t page_size) {
  expects(page_size > 0, "a page needs at least one token");
  if (page_size == 1) return build_csr(batch, whole_spans(batch));
  CsrIndices csr;
  std::vector<std::int32_t> pages;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    const std::int64_t len = batch.kv_len(r);
    const auto tokens = request_tokens(batch, r, 0, len);
    for (std::int64_t t = 0; t < len; t += page_size) {
      csr.kv_indices.push_back(narrow_i32(tokens[static_cast<std::size_t>(t)] / page_size));
    }
    pages.push_back(narrow_i32(ceil_div(len, page_size)));
    csr.kv_last_page_len.push_back(narrow_i32(len == 0 ? 1 : (len - 1) % page_size + 1));
  }
  csr.kv_indptr = indptr_of(pages);
  return csr;
}

CsrIndices build_csr(const ForwardBatch& batch, const KvSpans& spans) {
  const auto requests = static_cast<std::size_t>(batch.batch_size);
  expects(spans.start.size() == requests && spans.len.size() == requests,
          "one span of keys per request");
  CsrIndices csr;
  csr.kv_indptr = indptr_of(spans.len);
  csr.kv_indices.reserve(static_cast<std::size_t>(csr.kv_indptr.back()));
  csr.kv_last_page_len.assign(requests, 1);
  for (std::size_t r = 0; r < requests; ++r) {
    const auto tokens =
        request_tokens(batch, static_cast<std::int64_t>(r), spans.start[r], spans.len[r]);
    csr.kv_indices.insert(csr.kv_indices.end(), tokens.begin(), tokens.end());
  }
  return csr;
}

std::vector<std::int32_t> qo_indptr(const ForwardBatch& batch) {
  std::vector<std::int32_t> lens;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) lens.push_back(narrow_i32(batch.q_len(r)));
  return indptr_of(lens);
}

Varlen build_varlen(const ForwardBatch& batch) {
  Varlen varlen;
  varlen.cu_seqlens_q = qo_indptr(batch);
  varlen.cu_seqlens_k = indptr_of(whole_spans(batch).len);
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    varlen.max_seqlen_q = std::max(varlen.max_seqlen_q, batch.q_len(r));
    varlen.max_seqlen_k = std::max(varlen.max_seqlen_k, batch.kv_len(r));
  }
  return varlen;
}

}  // namespace attnbench
