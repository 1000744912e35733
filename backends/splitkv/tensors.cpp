// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/splitkv/tensors.h"

#include <algorithm>

#include "lib/base/error.h"

namespace attnbench::splitkv {

void set_tensors(Params& params, const ForwardBatch& batch) {
  set_attention_params(params, batch);
  const KvPool& pool = *batch.token_to_kv_pool;
  expects(pool.num_pages * std::max(params.k_page_stride, params.v_page_stride) < kReachOfRows,
          "K or V of one layer has 64 GiB or more: rows are found by 32 bits of 16 bytes each");
  if (params.k_page_stride == pool.page_size * params.k_token_stride &&
      params.v_page_stride == pool.page_size * params.v_token_stride) {
    // Tokens follow each other evenly: a slot needs no division.
    params.page_size = 1;
    params.page_shift = 0;
    params.k_page_stride = params.k_token_stride;
    params.v_page_stride = params.v_token_stride;
  }
}

}  // namespace attnbench::splitkv
