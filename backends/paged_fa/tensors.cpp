// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/paged_fa/tensors.h"

#include "lib/base/narrow.h"

namespace attnbench::paged_fa {

void set_tensors(Params& params, const ForwardBatch& batch) {
  const AttentionLayer& layer = batch.problem->layer;
  const KvPool& pool = *batch.token_to_kv_pool;
  const AttentionTensors& tensors = batch.tensors;
  const std::int64_t element = size_bytes(tensors.q.dtype), stored = size_bytes(pool.dtype);
  params.q = tensors.q.data;
  params.q_token_stride = tensors.q.stride[0] * element;
  params.q_head_stride = tensors.q.stride[1] * element;
  params.out = tensors.out.data;
  params.out_token_stride = tensors.out.stride[0] * element;
  params.out_head_stride = tensors.out.stride[1] * element;
  params.lse = tensors.lse.data;
  params.lse_token_stride = tensors.lse.stride[0] * size_bytes(tensors.lse.dtype);
  params.lse_head_stride = tensors.lse.stride[1] * size_bytes(tensors.lse.dtype);
  params.sinks = tensors.sinks;

  params.k = pool.k;
  params.v = pool.v;
  params.page_size = narrow_i32(pool.page_size);
  params.k_page_stride = pool.page_stride_k * stored;
  params.k_token_stride = pool.token_stride_k * stored;
  params.k_head_stride = pool.head_stride_k * stored;
  params.v_page_stride = pool.page_stride_v * stored;
  params.v_token_stride = pool.token_stride_v * stored;
  params.v_head_stride = pool.head_stride_v * stored;

  params.heads_kv = layer.heads_kv;
  params.group = layer.group_size();
  params.causal = layer.causal && !layer.is_cross_attention;
  params.window = narrow_i32(layer.sliding_window_size);
  params.window_by_depth = layer.window_in_trees == WindowInTrees::kDepth;
  params.scale = static_cast<float>(layer.scale) * pool.k_scale;
  params.softcap = static_cast<float>(layer.logit_cap);
  params.v_scale = pool.v_scale;
}

}  // namespace attnbench::paged_fa
