// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cudnn/shape.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "lib/backend/features.h"
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

Support supports(const Problem& problem) {
  const AttentionLayer& layer = problem.layer;
  if (problem.empty_rows) {
    return Support::no("no rows without keys: cuDNN writes NaN for them");
  }
  constexpr Features kFeatures = {Feature::kCrossAttention, Feature::kNotCausal, Feature::kWindow,
                                  Feature::kSinks,          Feature::kEmptyRows, Feature::kSwaPool,
                                  Feature::kPageGaps};
  if (Support named = unsupported_by_default(
          problem, kFeatures, "cuDNN is asked only for causal masks, windows and one scale");
      !named) {
    return named;
  }
  if (problem.dtype != DType::kBF16 && problem.dtype != DType::kF16) {
    return Support::no("activations in bf16 or f16 only");
  }
  if (problem.cache.dtype != problem.dtype) {
    return Support::no(
        "KV cache in the activations' type only: on sm_90 cuDNN's fp8 attention has fp8 queries "
        "and an fp8 output");
  }
  if (layer.head_dim_qk % 8 != 0 || layer.head_dim_v % 8 != 0 || layer.head_dim_qk > 256 ||
      layer.head_dim_v > 256) {
    return Support::no("head dims that are multiples of 8, at most 256");
  }
  if (!std::has_single_bit(static_cast<std::uint64_t>(problem.cache.page_size))) {
    return Support::no("page sizes that are powers of two only");
  }
  if (layer.has_sinks && problem.limits.q_len <= 1) {
    return Support::no("no sinks in steps of one query token per request, only in longer ones");
  }
  return Support::yes();
}

}  // namespace attnbench::cudnn
