// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cudnn/shape.h"

#include <algorithm>

#include "lib/base/int_math.h"
#include "lib/batch/graph_padding.h"

namespace attnbench::cudnn {
namespace {

template <class View>
RowStrides strides_of(const View& view) {
  return {view.stride[0], view.stride[1]};
}

/// Whether k_new and v_new hold all keys of the step, as the cache has them.
bool has_all_keys_new(const ForwardBatch& batch) {
  const KvPool& pool = *batch.token_to_kv_pool;
  if (batch.problem->recorded || batch.problem->layer.is_cross_attention ||
      batch.tensors.k_new.data == nullptr || pool.k_scale != 1 || pool.v_scale != 1) {
    return false;
  }
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    if (batch.q_len(r) != batch.kv_len(r)) return false;
  }
  return true;
}

}  // namespace

AttentionShape shape_of(const ForwardBatch& batch) {
  const Problem& problem = *batch.problem;
  const AttentionLayer& layer = problem.layer;
  AttentionShape shape;
  shape.dtype = problem.dtype;
  shape.heads_q = layer.heads_q;
  shape.heads_kv = layer.heads_kv;
  shape.head_dim_qk = layer.head_dim_qk;
  shape.head_dim_v = layer.head_dim_v;
  shape.sinks = layer.has_sinks;
  shape.q = strides_of(batch.tensors.q);
  shape.out = strides_of(batch.tensors.out);
  shape.lse = strides_of(batch.tensors.lse);
  if (problem.recorded) {
    shape.requests = problem.limits.requests;
    shape.q_len = problem.limits.q_len;
    shape.kv_len = problem.limits.kv_len;
  } else {
    shape.requests = batch.batch_size;
    for (std::int64_t r = 0; r < batch.batch_size; ++r) {
      shape.q_len = std::max(shape.q_len, batch.q_len(r));
      shape.kv_len = std::max(shape.kv_len, batch.kv_len(r));
    }
    shape.ragged = tokens_of_requests(batch) != shape.requests * shape.q_len;
  }

  // A mask that hides nothing can keep cuDNN from its kernel for decodes.
  const std::int64_t window = layer.sliding_window_size;
  const bool causal = layer.causal && !layer.is_cross_attention;
  shape.hides_before = window >= 0 && window + 1 < shape.kv_len;
  shape.hides_ahead = shape.q_len > 1 && (causal || shape.hides_before);
  shape.sees_ahead = shape.hides_ahead && !causal;

  if (shape.q_len > 1 && has_all_keys_new(batch)) {
    shape.k.row = strides_of(batch.tensors.k_new);
    shape.v.row = strides_of(batch.tensors.v_new);
  } else {
    const KvPool& pool = *batch.token_to_kv_pool;
    shape.scales_values = pool.v_scale != 1;
    shape.num_pages = pool.num_pages;
    shape.page_size = pool.page_size;
    shape.kv_len = round_up(shape.kv_len, pool.page_size);
    shape.k = {pool.page_stride_k, {pool.token_stride_k, pool.head_stride_k}};
    shape.v = {pool.page_stride_v, {pool.token_stride_v, pool.head_stride_v}};
  }
  return shape;
}

}  // namespace attnbench::cudnn
