// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/engines/engine_setup_of.h"

#include <algorithm>
#include <vector>

#include "lib/engines/engine_backends.h"

namespace attnbench {
namespace {

/// What the server's drafts are set to: the children that a node of a tree may have, those that one
/// has where a tree's parents are listed, or the branches that a draft model decodes. A
/// draft_extend step has none of them, but comes of drafts.
int topk_of(const Case& c) {
  const bool of_drafts =
      c.mode == ForwardMode::kDraftExtend || c.mode == ForwardMode::kDraftExtendV2;
  int topk = of_drafts ? 1 : c.draft_topk;
  for (const Request& request : c.requests) {
    topk = std::max(topk, request.tree_topk);
    std::vector<int> children(request.tree_parents.size());
    for (const int parent : request.tree_parents) {
      if (parent >= 0) ++children[static_cast<std::size_t>(parent)];
    }
    for (const int count : children) topk = std::max(topk, count);
  }
  return topk;
}

SparseAttention sparse_attention_of(const ModelGeometry& model) {
  using enum SparseAttention;
  if (model.compress_ratio > 0 || model.index_compress_ratio > 0) return kCompressed;
  if (model.kinds[LayerKind::kSparse] == 0) return kNone;
  if (model.index_block > 0) return kMsa;
  if (model.index_pool > 0) return model.is_mla() ? kPooledDsa : kQsa;
  return kDsa;
}

EngineSetup setup_of_layer(const AttentionLayer& layer, const EngineDevice& device) {
  EngineSetup setup;
  setup.device = device;
  setup.is_mla = layer.shares_row_of_k_and_v();
  setup.is_encoder_decoder = layer.is_cross_attention;
  setup.has_sinks = layer.has_sinks;
  setup.has_window = layer.sliding_window_size >= 0;
  setup.window_counts_depth = setup.has_window && layer.window_in_trees == WindowInTrees::kDepth;
  setup.has_chunks = layer.attention_chunk > 0;
  setup.has_logit_cap = layer.logit_cap > 0;
  setup.has_alibi = layer.has_alibi;
  setup.has_temperature = layer.temperature_len > 0;
  setup.sees_ahead = !layer.causal && !layer.is_cross_attention;
  setup.of_linear_layer = layer.is_recurrent();
  setup.heads_q = layer.heads_q;
  setup.is_dual_chunk = layer.dual_chunk.exists();
  setup.has_selection = layer.gathers_keys();
  setup.head_dim_qk = layer.head_dim_qk;
  setup.head_dim_v = layer.head_dim_v;
  return setup;
}

/// What the other layers of the model bring, because a server has one backend for all attention.
void add_layers_of(const ModelGeometry& model, EngineSetup& setup) {
  setup.has_window |= model.kinds[LayerKind::kSliding] > 0;
  setup.has_chunks |= model.kinds[LayerKind::kChunked] > 0;
  const int cross = model.kinds[LayerKind::kCross];
  setup.is_encoder_decoder |= cross > 0;
  // Each layer of its decoder is a full and a cross one; in Llama 3.2 Vision a few are cross.
  setup.is_whisper = cross > 0 && cross == model.kinds[LayerKind::kFull];
  if (model.kinds[LayerKind::kLinear] > 0) setup.linear = model.linear_kind;
  setup.sparse = sparse_attention_of(model);
  setup.has_window |= setup.sparse == SparseAttention::kCompressed;
}

/// A model of latent attention has a cache of latent rows, in whatever form a step reads them.
void add_latent_rows(const ModelGeometry& model, EngineSetup& setup) {
  if (!model.is_mla() || setup.of_linear_layer) return;
  setup.is_mla = true;
  setup.head_dim_qk = model.kv_lora_rank + model.qk_rope_head_dim;
  setup.head_dim_v = model.kv_lora_rank;
}

}  // namespace

EngineSetup engine_setup_of(const Case& c, const EngineDevice& device, bool deterministic) {
  EngineSetup setup = setup_of_layer(c.layer, device);
  add_layers_of(c.geometry, setup);
  add_latent_rows(c.geometry, setup);
  setup.dtype = c.dtype;
  setup.kv_dtype = c.kv_cache.dtype;
  setup.kv_scales = c.kv_cache.scales;
  setup.is_x_packed = c.kv_cache.layout == KvLayout::kXPacked;
  setup.is_ragged = c.kv_cache.is_ragged();
  if (!setup.is_ragged && !setup.of_linear_layer) setup.page_size = c.kv_cache.manager_page();
  setup.topk = topk_of(c);
  setup.is_deterministic = deterministic;
  setup.mode = c.mode;
  setup.q_fp8 = c.fp8.q;
  setup.q_scales = c.fp8.q_scales;
  setup.has_fp8_output = c.fp8.out.has_value();
  setup.scores_items = std::ranges::any_of(
      c.requests, [](const Request& request) { return !request.items.empty(); });
  setup.has_spans = std::ranges::any_of(
      c.requests, [](const Request& request) { return !request.spans.empty(); });
  return setup;
}

EngineSetup engine_setup_of(const ModelGeometry& model, int tp, const EngineDevice& device) {
  const bool all_slide = model.kinds[LayerKind::kSliding] == model.layers;
  const LayerKind kind = all_slide ? LayerKind::kSliding : LayerKind::kFull;
  EngineSetup setup = setup_of_layer(layer_of(model, kind, tp), device);
  add_layers_of(model, setup);
  return setup;
}

std::optional<PrefillDecision> prefill_of_sglang(const Case& c, bool deterministic) {
  const bool of_prompts = c.mode == ForwardMode::kExtend || c.mode == ForwardMode::kMixed;
  if (!of_prompts || c.layer.is_recurrent() || c.layer.is_cross_attention) return {};
  // On the first GPU of the table's, which its other features do not depend on.
  const EngineSetup setup = engine_setup_of(c, *find_engine_device("sm80"), deterministic);
  const EngineBackend* flashinfer = find_engine_backend(Engine::kSglang, "flashinfer", setup);
  if (!model_refusal(*flashinfer, setup).empty()) return {};
  PrefillStep step;
  step.is_mla = setup.is_mla;
  // multimodal_model_archs in configs/model_config.py, among them all encoder-decoders.
  step.is_multimodal = c.geometry.multimodal || setup.is_encoder_decoder;
  step.is_deterministic = deterministic;
  for (const Request& request : c.requests) {
    step.some_prefix |= request.prefix_len() > 0;
    step.scores_items |= !request.items.empty();
  }
  return decide_prefill(step);
}

}  // namespace attnbench
