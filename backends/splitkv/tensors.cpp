// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/splitkv/tensors.h"

#include <algorithm>

#include "lib/base/error.h"

namespace attnbench {

void set_tensors(SplitKvParams& params, const AttentionIo& io) {
  const AttentionLayer& layer = *io.layer;
  const KvPool& pool = *io.batch->token_to_kv_pool;
  const std::int64_t element = size_bytes(io.q.dtype), stored = size_bytes(pool.dtype);
  params.q = io.q.data;
  params.q_token_stride = io.q.stride[0] * element;
  params.q_head_stride = io.q.stride[1] * element;
  params.out = io.out.data;
  params.out_token_stride = io.out.stride[0] * element;
  params.out_head_stride = io.out.stride[1] * element;
  params.lse = io.lse.data;
  params.lse_token_stride = io.lse.stride[0] * size_bytes(io.lse.dtype);
  params.lse_head_stride = io.lse.stride[1] * size_bytes(io.lse.dtype);
  params.sinks = io.sinks;

  params.k = pool.k;
  params.v = pool.v;
  params.k_page_stride = pool.page_stride_k * stored;
  params.k_token_stride = pool.token_stride_k * stored;
  params.k_head_stride = pool.head_stride_k * stored;
  params.v_page_stride = pool.page_stride_v * stored;
  params.v_token_stride = pool.token_stride_v * stored;
  params.v_head_stride = pool.head_stride_v * stored;
  expects(pool.num_pages * std::max(params.k_page_stride, params.v_page_stride) < kReachOfRows,
          "K or V of one layer has 64 GiB or more: rows are found by 32 bits of 16 bytes each");
  params.page_size = static_cast<std::int32_t>(pool.page_size);
  if (params.k_page_stride == pool.page_size * params.k_token_stride &&
      params.v_page_stride == pool.page_size * params.v_token_stride) {
    params.page_size = 1;  // tokens follow each other evenly: a slot needs no division
    params.k_page_stride = params.k_token_stride;
    params.v_page_stride = params.v_token_stride;
  }

  params.group = layer.group_size();
  params.heads_kv = layer.heads_kv;
  params.causal = layer.causal && !layer.is_cross_attention;
  params.window = static_cast<std::int32_t>(layer.sliding_window_size);
  params.window_by_depth = layer.window_in_trees == WindowInTrees::kDepth;
  params.alibi_power = layer.has_alibi ? alibi_power(layer) : 0;
  params.scale = static_cast<float>(layer.scale) * pool.k_scale;
  params.softcap = static_cast<float>(layer.logit_cap);
  params.v_scale = pool.v_scale;
}

}  // namespace attnbench
