// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/varlen.h"

#include <algorithm>

#include "lib/batch/positions.h"
#include "lib/index/csr.h"

namespace attnbench {

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
