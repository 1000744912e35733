// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/attention_params.h"

#include <bit>
#include <cmath>

#include "lib/base/narrow.h"
#include "lib/batch/forward_batch.h"
#include "lib/batch/problem.h"

namespace attnbench {

void set_output_params(OutputParams& params, const ForwardBatch& batch) {
  const AttentionLayer& layer = batch.problem->layer;
  const TensorView &out = batch.tensors.out, &lse = batch.tensors.lse;
  params.out = out.data;
  params.out_token_stride = out.stride[0] * size_bytes(out.dtype);
  params.out_head_stride = out.stride[1] * size_bytes(out.dtype);
  params.lse = lse.data;
  params.lse_token_stride = lse.stride[0] * size_bytes(lse.dtype);
  params.lse_head_stride = lse.stride[1] * size_bytes(lse.dtype);
  params.sinks = batch.tensors.sinks;
  params.sink_in_lse = layer.sink_in_lse();
  params.heads_kv = layer.heads_kv;
  params.group = layer.group_size();
  const KvPool& pool = *batch.token_to_kv_pool;
  params.v_scale = pool.v_scale / batch.tensors.out_scale;
  params.v_scales = pool.v_scales;
  params.request_scales = pool.scales == KvScales::kRequest ? pool.heads_kv : 0;
  params.out_dtype = out.dtype;
}

void set_attention_params(AttentionParams& params, const ForwardBatch& batch) {
  set_output_params(params, batch);
  const AttentionLayer& layer = batch.problem->layer;
  const KvPool& pool = *batch.token_to_kv_pool;
  const ConstTensorView& q = batch.tensors.q;
  params.q = q.data;
  params.q_token_stride = q.stride[0] * size_bytes(q.dtype);
  params.q_head_stride = q.stride[1] * size_bytes(q.dtype);
  params.q_variant_stride = layer.head_dim_qk * size_bytes(q.dtype);

  const std::int64_t stored = size_bytes(pool.dtype);
  params.k = pool.k;
  params.v = pool.v;
  params.k_scales = pool.k_scales;
  params.page_size = narrow_i32(pool.page_size);
  const auto page_size = static_cast<std::uint64_t>(pool.page_size);
  params.page_shift = std::has_single_bit(page_size) ? std::countr_zero(page_size) : -1;
  params.k_page_stride = pool.page_stride_k * stored;
  params.k_token_stride = pool.token_stride_k * stored;
  params.k_head_stride = pool.head_stride_k * stored;
  params.v_page_stride = pool.page_stride_v * stored;
  params.v_token_stride = pool.token_stride_v * stored;
  params.v_head_stride = pool.head_stride_v * stored;

  params.window = narrow_i32(layer.sliding_window_size);
  params.window_by_depth = layer.window_in_trees == WindowInTrees::kDepth;
  params.chunk = narrow_i32(layer.attention_chunk);
  params.causal = layer.causal && !layer.is_cross_attention;
  params.block = narrow_i32(layer.causal_block);
  params.alibi_power = layer.has_alibi ? alibi_power(layer) : 0;
  params.scale = static_cast<float>(layer.scale) * pool.k_scale;
  params.softcap = static_cast<float>(layer.logit_cap);
  params.temperature_len = narrow_i32(layer.temperature_len);
  if (layer.temperature_len > 0) {
    params.temperature_per_log2 =
        static_cast<float>(1 / std::log2(static_cast<double>(layer.temperature_len)));
  }
}

}  // namespace attnbench
