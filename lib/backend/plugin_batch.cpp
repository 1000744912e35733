// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/plugin_batch.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "lib/base/narrow.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {
namespace {

// The interface's numbers are the enums' own, so that a plug-in and a debugger see the same.
static_assert(static_cast<int>(DType::kF32) == ATTNBENCH_F32);
static_assert(static_cast<int>(DType::kF16) == ATTNBENCH_F16);
static_assert(static_cast<int>(DType::kBF16) == ATTNBENCH_BF16);
static_assert(static_cast<int>(DType::kE4M3) == ATTNBENCH_E4M3);
static_assert(static_cast<int>(DType::kE5M2) == ATTNBENCH_E5M2);
static_assert(static_cast<int>(Family::kSoftmax) == ATTNBENCH_SOFTMAX);
static_assert(static_cast<int>(Family::kLatent) == ATTNBENCH_LATENT);
static_assert(static_cast<int>(Family::kGatedDeltaNet) == ATTNBENCH_RECURRENT);
static_assert(static_cast<int>(Family::kKimiDelta) == ATTNBENCH_KIMI_DELTA);
static_assert(static_cast<int>(Family::kLightning) == ATTNBENCH_LIGHTNING);
static_assert(static_cast<int>(Family::kMamba2) == ATTNBENCH_MAMBA2);
static_assert(static_cast<int>(ForwardMode::kExtend) == ATTNBENCH_EXTEND);
static_assert(static_cast<int>(ForwardMode::kDecode) == ATTNBENCH_DECODE);
static_assert(static_cast<int>(ForwardMode::kMixed) == ATTNBENCH_MIXED);
static_assert(static_cast<int>(ForwardMode::kIdle) == ATTNBENCH_IDLE);
static_assert(static_cast<int>(ForwardMode::kTargetVerify) == ATTNBENCH_TARGET_VERIFY);
static_assert(static_cast<int>(ForwardMode::kDraftExtend) == ATTNBENCH_DRAFT_EXTEND);
static_assert(static_cast<int>(ForwardMode::kSplitPrefill) == ATTNBENCH_SPLIT_PREFILL);
static_assert(static_cast<int>(ForwardMode::kDraftExtendV2) == ATTNBENCH_DRAFT_EXTEND_V2);
static_assert(static_cast<int>(ForwardMode::kDllmExtend) == ATTNBENCH_DLLM_EXTEND);
static_assert(static_cast<int>(StepPart::kAttention) == ATTNBENCH_ATTENTION);
static_assert(static_cast<int>(StepPart::kKvWrite) == ATTNBENCH_KV_WRITE);
static_assert(static_cast<int>(StepPart::kBoth) == ATTNBENCH_BOTH);
static_assert(static_cast<int>(StepPart::kIndex) == ATTNBENCH_INDEX);
static_assert(static_cast<int>(StepPart::kSelect) == ATTNBENCH_SELECT);
static_assert(static_cast<int>(StepPart::kIndexer) == ATTNBENCH_INDEXER);
static_assert(static_cast<int>(KvLayout::kNhd) == ATTNBENCH_NHD);
static_assert(static_cast<int>(KvLayout::kHnd) == ATTNBENCH_HND);
static_assert(static_cast<int>(KvLayout::kCombined) == ATTNBENCH_COMBINED);
static_assert(static_cast<int>(KvLayout::kXPacked) == ATTNBENCH_X_PACKED);
static_assert(static_cast<int>(KvLayout::kStatesKv) == ATTNBENCH_STATES_KV);
static_assert(static_cast<int>(KvLayout::kStatesVk) == ATTNBENCH_STATES_VK);
static_assert(static_cast<int>(KvLayout::kRagged) == ATTNBENCH_RAGGED);
static_assert(static_cast<int>(KvLayout::kJoint) == ATTNBENCH_JOINT);
static_assert(static_cast<int>(KvLayout::kJointHnd) == ATTNBENCH_JOINT_HND);
static_assert(static_cast<int>(KvScales::kTensor) == ATTNBENCH_SCALES_TENSOR);
static_assert(static_cast<int>(KvScales::kHead) == ATTNBENCH_SCALES_HEAD);
static_assert(static_cast<int>(KvScales::kToken) == ATTNBENCH_SCALES_TOKEN);
static_assert(static_cast<int>(KvScales::kBlock) == ATTNBENCH_SCALES_BLOCK);
static_assert(static_cast<int>(KvScales::kGroup) == ATTNBENCH_SCALES_GROUP);
static_assert(static_cast<int>(KvScales::kRequest) == ATTNBENCH_SCALES_REQUEST);
static_assert(static_cast<int>(QScales::kTensor) == ATTNBENCH_Q_SCALES_TENSOR);
static_assert(static_cast<int>(QScales::kRequest) == ATTNBENCH_Q_SCALES_REQUEST);
static_assert(static_cast<int>(QScales::kHead) == ATTNBENCH_Q_SCALES_HEAD);
static_assert(static_cast<int>(QScales::kToken) == ATTNBENCH_Q_SCALES_TOKEN);
static_assert(static_cast<int>(DeviceKind::kCpu) == ATTNBENCH_CPU);
static_assert(static_cast<int>(DeviceKind::kCuda) == ATTNBENCH_CUDA);

}  // namespace

attnbench_problem plugin_problem(const Problem& problem) {
  const AttentionLayer& layer = problem.layer;
  attnbench_problem to{};
  to.struct_size = sizeof to;
  to.family = static_cast<std::int32_t>(layer.family);
  to.heads_q = layer.heads_q;
  to.heads_kv = layer.heads_kv;
  to.head_dim_qk = layer.head_dim_qk;
  to.head_dim_v = layer.head_dim_v;
  to.causal = layer.causal ? 1 : 0;
  to.is_cross_attention = layer.is_cross_attention ? 1 : 0;
  to.has_sinks = layer.has_sinks ? 1 : 0;
  to.has_alibi = layer.has_alibi ? 1 : 0;
  to.window_counts_depth = layer.window_in_trees == WindowInTrees::kDepth ? 1 : 0;
  to.sliding_window_size = layer.sliding_window_size;
  to.scale = layer.scale;
  to.logit_cap = layer.logit_cap;
  to.ranks = layer.ranks;
  to.dtype = static_cast<std::int32_t>(problem.dtype);
  to.cache_dtype = static_cast<std::int32_t>(problem.cache.dtype);
  to.cache_layout = static_cast<std::int32_t>(problem.cache.layout);
  to.page_size = problem.cache.page_size;
  to.page_stride = problem.cache.tokens_apart();
  to.cache_scales = static_cast<std::int32_t>(problem.cache.scales);
  to.mode = static_cast<std::int32_t>(problem.mode);
  to.recorded = problem.recorded ? 1 : 0;
  to.max_requests = problem.limits.requests;
  to.max_q_len = problem.limits.q_len;
  to.max_q_tokens = problem.limits.q_tokens;
  to.max_kv_len = problem.limits.kv_len;
  to.step = static_cast<std::int32_t>(problem.step);
  to.attention_chunk = layer.attention_chunk;
  to.temperature_len = layer.temperature_len;
  to.causal_block = layer.causal_block;
  to.multi_item = problem.multi_item ? 1 : 0;
  to.empty_rows = problem.empty_rows ? 1 : 0;
  to.q_dtype = static_cast<std::int32_t>(problem.q_dtype());
  to.out_dtype = static_cast<std::int32_t>(problem.out_dtype());
  to.q_scales = static_cast<std::int32_t>(problem.fp8.q_scales);
  to.dual_chunk_size = layer.dual_chunk.chunk_size;
  to.dual_local_size = layer.dual_chunk.local_size;
  to.swa_pool = problem.swa_pool ? 1 : 0;
  to.queries_apart = layer.queries_apart ? 1 : 0;
  to.drafts_are_chains = problem.drafts_are_chains ? 1 : 0;
  to.spans = problem.spans ? 1 : 0;
  to.spans_within_window = layer.span_rule == SpanRule::kWithinWindow ? 1 : 0;
  to.topk = layer.selection.topk;
  to.topk_unit = layer.selection.unit;
  to.topk_groups = layer.selection_groups();
  to.topk_length_counts = layer.selection.padding == SelectionPadding::kRepeat ? 1 : 0;
  to.topk_repeats = layer.selection.repeats() ? 1 : 0;
  to.index_heads = layer.selection.index_heads;
  to.compress_ratio = layer.compress_ratio;
  return to;
}

PluginBatch::PluginBatch(const ForwardBatch& batch, const Device& device, PluginIndices& indices)
    : device_(&device), problem_(plugin_problem(*batch.problem)) {
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    q_lens_.push_back(narrow_i32(batch.q_len(r)));
    kv_lens_.push_back(narrow_i32(batch.kv_len(r)));
  }
  const AttentionTensors& from = batch.tensors;
  if (batch.problem->layer.queries_apart) {
    set(ATTNBENCH_Q_NOPE, from.q_nope);
    set(ATTNBENCH_Q_PE, from.q_pe);
  } else {
    set(ATTNBENCH_Q, from.q);
  }
  set(ATTNBENCH_K_NEW, from.k_new);
  set(ATTNBENCH_V_NEW, from.v_new);
  set(ATTNBENCH_SINKS, from.sinks, ATTNBENCH_F32, {problem_.heads_q});
  set(ATTNBENCH_OUT, from.out.read_only());
  const KvPool& pool = *batch.token_to_kv_pool;
  if (batch.problem->layer.is_recurrent()) {
    set_states(batch);
  } else {
    set(ATTNBENCH_LSE, from.lse.read_only());
    tensors_[ATTNBENCH_LSE].rank = 2;
    set_cache(pool, batch.batch_size);
  }
  set_q_scales(batch);
  set_indices(device_batch_of(batch), batch);

  view_.struct_size = sizeof view_;
  view_.problem = &problem_;
  view_.batch_size = batch.batch_size;
  view_.q_tokens = batch.q_tokens();
  view_.q_lens = q_lens_.data();
  view_.kv_lens = kv_lens_.data();
  view_.k_scale = pool.k_scale;
  view_.v_scale = pool.v_scale;
  view_.q_scale = from.q_scale;
  view_.out_scale = from.out_scale;
  view_.num_tensors = ATTNBENCH_ROLES;
  view_.tensors = tensors_.data();
  view_.context = &indices;
  view_.indices = PluginIndices::build;
}

void PluginBatch::set_q_scales(const ForwardBatch& batch) {
  const QScaleArray q = q_scale_array(batch);
  std::vector<std::int64_t> shape{q.rows(batch.batch_size, batch.q_tokens()), q.columns()};
  if (q.kind == QScales::kHead) shape.erase(shape.begin());  // as of a cache
  set(ATTNBENCH_Q_SCALES, q.scales, ATTNBENCH_F32, std::move(shape));
}

void PluginBatch::set_indices(const DeviceBatch& indices, const ForwardBatch& batch) {
  const std::int64_t requests = batch.batch_size, tokens = batch.q_tokens();
  set(ATTNBENCH_SEQ_LENS, indices.kv_lens, ATTNBENCH_I32, {requests});
  set(ATTNBENCH_QUERY_START_LOC, indices.qo_indptr, ATTNBENCH_I32, {requests + 1});
  set(ATTNBENCH_POSITIONS, indices.positions, ATTNBENCH_I64, {tokens});
  if (batch.problem->layer.is_recurrent()) {
    set(ATTNBENCH_STATE_INDICES, indices.state_indices, ATTNBENCH_I32, {requests});
    set(ATTNBENCH_HAS_INITIAL_STATE, indices.has_initial_state, ATTNBENCH_U8, {requests});
    if (batch.spec_info) {
      set(ATTNBENCH_RETRIEVE_PARENT_TOKEN, indices.retrieve_parent_token, ATTNBENCH_I32,
          {requests, batch.spec_info->draft_token_num});
    }
    return;
  }
  set(ATTNBENCH_REQ_TO_TOKEN, indices.req_to_token, ATTNBENCH_I32,
      {batch.req_to_token_pool->rows(), indices.req_to_token_stride});
  set(ATTNBENCH_REQ_POOL_INDICES, indices.req_pool_indices, ATTNBENCH_I32, {requests});
  set(ATTNBENCH_BLOCK_TABLE, indices.block_table, ATTNBENCH_I32,
      {requests, indices.block_table_width});
  set(ATTNBENCH_SLOT_MAPPING, indices.out_cache_loc, ATTNBENCH_I64, {tokens});
  if (!batch.spans.empty()) {
    set(ATTNBENCH_SPANS, indices.spans, ATTNBENCH_I32, {std::ssize(batch.spans) / 2, 2});
  }
  if (batch.index_scores != nullptr) {
    set_scores(*batch.index_scores, *batch.index_outputs);
  } else if (batch.indexer != nullptr) {
    set_indexer(*batch.indexer, batch.index_outputs->arrays.front());
  } else if (batch.chosen) {
    const ChosenKeys& chosen = *batch.chosen;
    const std::int64_t rows = std::ssize(chosen.lengths) / chosen.groups;
    set(ATTNBENCH_TOPK_INDICES, indices.topk_indices, ATTNBENCH_I32,
        {rows, chosen.groups, chosen.width});
    set(ATTNBENCH_TOPK_LENGTH, indices.topk_length, ATTNBENCH_I32, {rows, chosen.groups});
  }
  if (!batch.spec_info) return;
  set(ATTNBENCH_CUSTOM_MASK, indices.custom_mask, ATTNBENCH_U8,
      {std::ssize(batch.spec_info->custom_mask)});
  set(ATTNBENCH_MASK_INDPTR, indices.mask_indptr, ATTNBENCH_I64, {requests + 1});
}

void PluginBatch::set_scores(const IndexScores& scores, const IndexOutputs& outputs) {
  set(ATTNBENCH_LOGITS, scores.logits, ATTNBENCH_F32,
      {scores.tokens, scores.groups, scores.columns});
  set(ATTNBENCH_ROW_LENS, scores.row_lens, ATTNBENCH_I32, {scores.tokens});
  set(ATTNBENCH_TOPK_INDICES, outputs.arrays[0].data, ATTNBENCH_I32, outputs.arrays[0].shape);
  set(ATTNBENCH_TOPK_LENGTH, outputs.arrays[1].data, ATTNBENCH_I32, outputs.arrays[1].shape);
}

void PluginBatch::set_indexer(const IndexerInputs& inputs, const IndexOutput& logits) {
  set(ATTNBENCH_INDEX_Q, inputs.q, ATTNBENCH_E4M3,
      {inputs.tokens, inputs.heads, IndexerInputs::kDim});
  set(ATTNBENCH_INDEX_WEIGHTS, inputs.weights, ATTNBENCH_F32, {inputs.tokens, inputs.heads});
  set(ATTNBENCH_INDEX_CACHE, inputs.cache, ATTNBENCH_U8,
      {inputs.pages, inputs.page_size * IndexerInputs::kKeyBytes});
  set(ATTNBENCH_ROW_LENS, inputs.row_lens, ATTNBENCH_I32, {inputs.tokens});
  set(ATTNBENCH_LOGITS, logits.data, ATTNBENCH_F32, logits.shape);
}

void PluginBatch::set_states(const ForwardBatch& batch) {
  set(ATTNBENCH_G, batch.tensors.g);
  if (batch.problem->layer.gate_dims() == 1) tensors_[ATTNBENCH_G].rank = 2;
  set(ATTNBENCH_BETA, batch.tensors.beta);
  tensors_[ATTNBENCH_BETA].rank = 2;
  set(ATTNBENCH_SKIP, batch.tensors.skip, ATTNBENCH_F32, {problem_.heads_kv});
  set(ATTNBENCH_STATES, *batch.state_pool, batch.state_pool->slots);
  if (batch.intermediate_states != nullptr) {
    set(ATTNBENCH_INTERMEDIATE_STATES, *batch.intermediate_states, batch.q_tokens());
  }
}

void PluginBatch::set(int role, const void* data, std::int32_t dtype,
                      std::vector<std::int64_t> shape) {
  attnbench_tensor& to = tensors_[static_cast<std::size_t>(role)];
  to.data = const_cast<void*>(data);  // one struct for inputs and outputs; roles say which is which
  to.device = static_cast<std::int32_t>(device_->info().kind);
  to.dtype = dtype;
  to.rank = static_cast<std::int32_t>(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    to.shape[d] = shape[d];
    to.stride[d] = stride;
    stride *= shape[d];
  }
}

void PluginBatch::set(int role, const StatePool& pool, std::int64_t slots) {
  set(role, pool.data, ATTNBENCH_F32, {slots, pool.heads, pool.dim_k, pool.dim_v});
  attnbench_tensor& to = tensors_[static_cast<std::size_t>(role)];
  to.stride[2] = pool.stride_k();
  to.stride[3] = pool.stride_v();
}

void PluginBatch::set(int role, const ConstTensorView& view) {
  set(role, view.data, static_cast<std::int32_t>(view.dtype),
      {view.shape[0], view.shape[1], view.shape[2]});
  attnbench_tensor& to = tensors_[static_cast<std::size_t>(role)];
  to.stride[0] = view.stride[0];
  to.stride[1] = view.stride[1];
}

void PluginBatch::set_cache(const KvPool& pool, std::int64_t requests) {
  if (pool.k_scales != nullptr) {
    std::vector<std::int64_t> shape{pool.heads_kv};
    if (pool.scales == KvScales::kToken) {
      shape.insert(shape.begin(), pool.num_pages * pool.page_size);
    } else if (pool.scales == KvScales::kRequest) {
      shape.insert(shape.begin(), requests);
    }
    set(ATTNBENCH_K_SCALES, pool.k_scales, ATTNBENCH_F32, shape);
    set(ATTNBENCH_V_SCALES, pool.v_scales, ATTNBENCH_F32, shape);
  }
  const auto dtype = static_cast<std::int32_t>(pool.dtype);
  const std::int64_t pages = pool.num_pages, page_size = pool.page_size, heads = pool.heads_kv;
  if (pool.blocks.exists()) {
    std::vector<std::int64_t> shape{pages, page_size, 1, pool.blocks.bytes};
    if (pool.blocks.behind > 0) shape = {pages, page_size * pool.blocks.token_bytes()};
    set(ATTNBENCH_K_CACHE, pool.k, ATTNBENCH_U8, shape);
    tensors_[ATTNBENCH_K_CACHE].stride[0] = pool.page_stride_k;
    return;
  }
  if (pool.layout == KvLayout::kXPacked) {
    const std::int64_t x = std::int64_t{1} << pool.run_bits_k;
    set(ATTNBENCH_K_CACHE, pool.k, dtype, {pages, heads * pool.head_dim_k / x, page_size, x});
    set(ATTNBENCH_V_CACHE, pool.v, dtype, {pages, heads, pool.head_dim_v, page_size});
    tensors_[ATTNBENCH_K_CACHE].stride[0] = pool.page_stride_k;
    tensors_[ATTNBENCH_V_CACHE].stride[0] = pool.page_stride_v;
    return;
  }
  if (pool.layout == KvLayout::kRagged) {
    const std::int64_t rows = std::accumulate(kv_lens_.begin(), kv_lens_.end(), std::int64_t{0});
    set(ATTNBENCH_K_CACHE, pool.k, dtype, {rows, heads, pool.head_dim_k});
    set(ATTNBENCH_V_CACHE, pool.v, dtype, {rows, heads, pool.head_dim_v});
    return;
  }
  set(ATTNBENCH_K_CACHE, pool.k, dtype, {pages, page_size, heads, pool.head_dim_k});
  set(ATTNBENCH_V_CACHE, pool.v, dtype, {pages, page_size, heads, pool.head_dim_v});
  std::ranges::copy(std::array{pool.page_stride_k, pool.token_stride_k, pool.head_stride_k},
                    tensors_[ATTNBENCH_K_CACHE].stride);
  std::ranges::copy(std::array{pool.page_stride_v, pool.token_stride_v, pool.head_stride_v},
                    tensors_[ATTNBENCH_V_CACHE].stride);
}

}  // namespace attnbench
