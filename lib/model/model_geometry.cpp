// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/model_geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "lib/base/error.h"

namespace attnbench {
namespace {

AttentionLayer mla_layer(const ModelGeometry& model, MlaForm form, int tp) {
  AttentionLayer layer;
  if (form == MlaForm::kExpanded) {
    if (model.head_dim_v == 0) {
      throw ConfigError(fmt::format(
          "mla: expanded needs head_dim_v, the dims of a value head of {}", model.name));
    }
    layer.heads_kv = model.heads_q / tp;
    layer.head_dim_qk = model.qk_nope_head_dim + model.qk_rope_head_dim;
    layer.head_dim_v = model.head_dim_v;
  } else {
    layer.family = Family::kLatent;
    layer.heads_kv = 1;
    layer.head_dim_qk = model.kv_lora_rank + model.qk_rope_head_dim;
    layer.head_dim_v = model.kv_lora_rank;
  }
  // The absorbed form computes the same logits as heads of nope + rope, so it keeps their scale.
  layer.scale =
      model.yarn.softmax_factor() / std::sqrt(model.qk_nope_head_dim + model.qk_rope_head_dim);
  return layer;
}

AttentionLayer mha_layer(const ModelGeometry& model, int tp) {
  if (model.heads_q % model.heads_kv != 0) {
    throw ConfigError(fmt::format("{} query heads are not a multiple of {} KV heads", model.heads_q,
                                  model.heads_kv));
  }
  if (model.heads_kv % tp != 0 && tp % model.heads_kv != 0) {
    throw ConfigError(fmt::format(
        "{} KV heads neither divide among tp {} ranks nor replicate evenly", model.heads_kv, tp));
  }
  AttentionLayer layer;
  layer.heads_kv = std::max(1, model.heads_kv / tp);  // below one per rank they are replicated
  layer.head_dim_qk = model.head_dim;
  layer.head_dim_v = model.head_dim_v > 0 ? model.head_dim_v : model.head_dim;
  const double scalar =
      model.query_pre_attn_scalar > 0 ? model.query_pre_attn_scalar : model.head_dim;
  layer.scale =
      model.attention_multiplier > 0 ? model.attention_multiplier : 1.0 / std::sqrt(scalar);
  return layer;
}

Family family_of(LinearAttentionKind kind) {
  switch (kind) {
    case LinearAttentionKind::kKimiDelta:
      return Family::kKimiDelta;
    case LinearAttentionKind::kLightning:
      return Family::kLightning;
    case LinearAttentionKind::kMamba2:
      return Family::kMamba2;
    default:
      return Family::kGatedDeltaNet;
  }
}

/// A rank has the value heads that share its key heads. Only the one group of a Mamba-2 is
/// replicated (vLLM, model_executor/layers/mamba/mamba_mixer2.py).
AttentionLayer linear_layer(const ModelGeometry& model, int tp) {
  const int keys = model.linear_num_key_heads, values = model.linear_num_value_heads;
  if (values % keys != 0) {
    throw ConfigError(
        fmt::format("{} value heads are not a multiple of {} key heads", values, keys));
  }
  AttentionLayer layer;
  layer.family = family_of(model.linear_kind);
  const bool replicates = layer.family == Family::kMamba2 && keys == 1;
  const int dividing = replicates ? values : keys;
  if (tp < 1 || dividing % tp != 0) {
    throw ConfigError(fmt::format("{} {} heads do not divide among tp {} ranks", dividing,
                                  replicates ? "value" : "key", tp));
  }
  layer.heads_q = replicates ? 1 : keys / tp;
  layer.heads_kv = values / tp;
  layer.head_dim_qk = model.linear_key_head_dim;
  layer.head_dim_v = model.linear_value_head_dim;
  // MiniMax's kernel has none (vLLM, model_executor/layers/lightning_attn.py), nor has Mamba-2.
  layer.scale = layer.is_delta_net() ? 1.0 / std::sqrt(layer.head_dim_qk) : 1.0;
  layer.ranks = tp;
  return layer;
}

/// In the order in which a model stands for one of them.
constexpr LayerKind kRunnable[] = {LayerKind::kSparse,  LayerKind::kFull,    LayerKind::kCompressed,
                                   LayerKind::kSliding, LayerKind::kChunked, LayerKind::kLinear,
                                   LayerKind::kCross};

[[noreturn]] void refuse(std::string message, std::string hint) {
  Diagnostic mistake;
  mistake.message = std::move(message);
  mistake.hint = std::move(hint);
  throw ConfigError(std::vector{std::move(mistake)});
}

std::string spelled_out(const ModelGeometry& model) {
  if (model.kinds[LayerKind::kFull] > 0) {
    return fmt::format("say `layer: full`, beside `model`, to run its {} full layers",
                       model.kinds[LayerKind::kFull]);
  }
  return "say `layer: full`, beside `model`, to run its heads and dims with attention to every key";
}

bool can_run(const ModelGeometry& model, LayerKind kind) {
  // Dense attention in place of sparse: the same heads and cache, every key instead of some.
  if (kind == LayerKind::kFull && model.kinds[LayerKind::kSparse] > 0) return true;
  if (kind == LayerKind::kLinear && !model.has_delta_net()) return false;
  if (kind == LayerKind::kSparse && model.index_topk == 0) return false;
  return std::ranges::find(kRunnable, kind) != std::end(kRunnable) && model.kinds[kind] > 0;
}

std::string cannot_run(const ModelGeometry& model, LayerKind kind) {
  if (kind == LayerKind::kSparse) {
    return fmt::format(
        "attnbench cannot run the sparse layers of {}: which keys they take is "
        "unknown",
        model.name);
  }
  return fmt::format(
      "attnbench cannot run the linear layers of {}: it runs gated delta nets, "
      "Kimi delta and lightning attention and Mamba-2 with known heads{}",
      model.name, model.notes.empty() ? "" : "; its notes: " + model.notes);
}

}  // namespace

void ModelGeometry::add_note(std::string_view note) {
  notes += notes.empty() ? "" : "; ";
  notes += note;
}

double YarnScaling::softmax_factor() const {
  if (factor <= 1) return 1;
  const double mscale = 0.1 * mscale_all_dim * std::log(factor) + 1;
  return mscale * mscale;
}

LayerKind kind_to_run(const ModelGeometry& model, std::optional<LayerKind> asked) {
  if (!asked) {
    // Their attention is not implemented, although the model's name promises it.
    if (const int missing = model.kinds[LayerKind::kSparse];
        missing > 0 && !can_run(model, LayerKind::kSparse)) {
      refuse(
          fmt::format("{} of the {} layers of {} are sparse, and which keys they take is unknown",
                      missing, model.layers, model.name),
          spelled_out(model));
    }
    for (const LayerKind kind : kRunnable) {
      if (can_run(model, kind)) return kind;
    }
    refuse(
        fmt::format("{} has no layer that attnbench can run: {}", model.name, model.kinds.text()),
        "full, sliding, chunked, sparse, compressed and cross layers can be run, and linear ones "
        "that are "
        "gated delta nets, Kimi delta or lightning attention or Mamba-2");
  }
  if (can_run(model, *asked)) return *asked;
  std::string allowed;
  for (const LayerKind kind : kRunnable) {
    if (can_run(model, kind)) allowed += fmt::format(" {}", to_string(kind));
  }
  refuse(model.kinds[*asked] > 0 ? cannot_run(model, *asked)
                                 : fmt::format("{} has no {} layers, but {}", model.name,
                                               to_string(*asked), model.kinds.text()),
         fmt::format("allowed here:{}   `attention` changes the window of the layer that is run",
                     allowed));
}

std::vector<LayerKind> runnable_kinds(const ModelGeometry& model) {
  std::vector<LayerKind> kinds;
  for (const LayerKind kind : kLayerKinds) {
    if (model.kinds[kind] > 0 && can_run(model, kind)) kinds.push_back(kind);
  }
  return kinds;
}

std::string notes_on(const ModelGeometry& model, LayerKind kind) {
  std::string text;
  const int here = model.kinds[kind];
  if (here == 0) {
    text =
        fmt::format("dense attention in place of the model's own ({} layers)", model.kinds.text());
  } else if (here < model.layers) {
    std::string extent;
    if (kind == LayerKind::kSliding) extent = fmt::format(" over {} keys", model.sliding_window);
    if (const int ratio = model.compress_ratio_of(kind); ratio > 0) {
      extent = fmt::format(" over rows of {} tokens and {} keys", ratio, model.sliding_window);
    }
    if (kind == LayerKind::kChunked) extent = fmt::format(" by {} keys", model.attention_chunk);
    text = fmt::format("this layer is {}{}, as {} of {} are; the others: {}", to_string(kind),
                       extent, here, model.layers, model.kinds.text(kind));
  }
  if (!model.notes.empty()) text += (text.empty() ? "" : "; ") + model.notes;
  return text;
}

ModelGeometry with_heads_of(ModelGeometry model, LayerKind kind) {
  if (kind != LayerKind::kSliding) return model;
  const OwnHeads own = std::exchange(model.sliding, {});
  if (own.heads_q > 0) model.heads_q = own.heads_q;
  if (own.heads_kv > 0) model.heads_kv = own.heads_kv;
  if (own.head_dim > 0) model.head_dim = own.head_dim;
  if (own.head_dim_v > 0) model.head_dim_v = own.head_dim_v;
  model.sinks = model.sinks || own.sinks;
  return model;
}

AttentionLayer layer_of(const ModelGeometry& whole, LayerKind kind, int tp, MlaForm form) {
  expects(std::ranges::find(kRunnable, kind) != std::end(kRunnable), "a layer that cannot be run");
  const ModelGeometry model = with_heads_of(whole, kind);
  if (kind == LayerKind::kLinear) return linear_layer(model, tp);
  if (tp < 1 || model.heads_q % tp != 0) {
    throw ConfigError(
        fmt::format("{} query heads do not divide among tp {} ranks", model.heads_q, tp));
  }
  AttentionLayer layer = model.is_mla() ? mla_layer(model, form, tp) : mha_layer(model, tp);
  layer.heads_q = model.heads_q / tp;
  layer.ranks = tp;
  layer.logit_cap = model.softcap;
  layer.has_sinks = model.sinks;
  layer.has_alibi = model.alibi;
  layer.temperature_len = model.temperature_len;
  layer.dual_chunk = model.dual_chunk;
  if (kind == LayerKind::kCross) {
    layer.is_cross_attention = true;
    layer.causal = false;
  }
  if (kind == LayerKind::kSparse) {
    layer.selection.topk = model.index_topk;
    layer.selection.index_heads = model.index_n_heads;
    if (model.index_block > 0) {
      layer.selection.unit = model.index_block;
      layer.selection.groups = SelectionGroups::kKvHeads;
      layer.selection.score = SelectionScore::kMax;
      layer.selection.index_heads = layer.heads_kv;
    }
    if (model.index_pool > 0) {
      layer.selection.unit = model.index_pool;
      layer.selection.tail = SelectionTail::kOpen;
      ++layer.selection.topk;  // the tail's entry
    }
  }
  if (const int ratio = model.compress_ratio_of(kind); ratio > 0) {
    layer.compress_ratio = ratio;
    layer.sliding_window_size = model.sliding_window - 1;
    if (layer.selection.exists()) layer.selection.unit = ratio;
    layer.selection.compressed = layer.selection.exists();
  }
  if (kind == LayerKind::kSliding) layer.sliding_window_size = model.sliding_window - 1;
  if (kind == LayerKind::kChunked) layer.attention_chunk = model.attention_chunk;
  return layer;
}

}  // namespace attnbench
