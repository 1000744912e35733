// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/engine_setup_of.h"

#include <algorithm>
#include <vector>

namespace attnbench {
namespace {

/// The most children of a node of any tree, or the branches that a draft model decodes. A
/// draft_extend step has neither, but comes of drafts.
int topk_of(const Case& c) {
  const bool of_drafts =
      c.mode == ForwardMode::kDraftExtend || c.mode == ForwardMode::kDraftExtendV2;
  int topk = of_drafts ? 1 : c.draft_topk;
  for (const Request& request : c.requests) {
    std::vector<int> children(request.tree_parents.size());
    for (const int parent : request.tree_parents) {
      if (parent >= 0) ++children[static_cast<std::size_t>(parent)];
    }
    for (const int count : children) topk = std::max(topk, count);
  }
  return topk;
}

EngineSetup setup_of_layer(const AttentionLayer& layer, const EngineDevice& device) {
  EngineSetup setup;
  setup.device = device;
  setup.is_mla = layer.shares_row_of_k_and_v();
  setup.is_encoder_decoder = layer.is_cross_attention;
  setup.has_sinks = layer.has_sinks;
  setup.has_window = layer.sliding_window_size >= 0;
  setup.has_chunks = layer.attention_chunk > 0;
  setup.has_logit_cap = layer.logit_cap > 0;
  setup.heads_q = layer.heads_q;
  setup.is_dual_chunk = layer.dual_chunk.exists();
  setup.head_dim_qk = layer.head_dim_qk;
  setup.head_dim_v = layer.head_dim_v;
  return setup;
}

}  // namespace

EngineSetup engine_setup_of(const Case& c, const EngineDevice& device) {
  EngineSetup setup = setup_of_layer(c.layer, device);
  setup.dtype = c.dtype;
  setup.kv_dtype = c.kv_cache.dtype;
  setup.page_size = c.kv_cache.page_size;
  setup.topk = topk_of(c);
  return setup;
}

EngineSetup engine_setup_of(const ModelGeometry& model, int tp, const EngineDevice& device) {
  const bool all_slide = model.kinds[LayerKind::kSliding] == model.layers;
  const LayerKind kind = all_slide ? LayerKind::kSliding : LayerKind::kFull;
  EngineSetup setup = setup_of_layer(layer_of(model, kind, tp), device);
  setup.has_window = model.kinds[LayerKind::kSliding] > 0;
  setup.has_chunks = model.kinds[LayerKind::kChunked] > 0;
  setup.is_dsa = model.kinds[LayerKind::kSparse] > 0;
  return setup;
}

std::optional<PrefillDecision> prefill_of_sglang(const Case& c, bool deterministic) {
  const bool of_prompts = c.mode == ForwardMode::kExtend || c.mode == ForwardMode::kMixed;
  if (!of_prompts || c.layer.is_recurrent() || c.layer.is_cross_attention) return {};
  PrefillStep step;
  step.is_mla = c.layer.shares_row_of_k_and_v();
  step.is_deterministic = deterministic;
  for (const Request& request : c.requests) {
    step.some_prefix |= request.prefix_len() > 0;
    step.scores_items |= !request.items.empty();
  }
  return decide_prefill(step);
}

}  // namespace attnbench
