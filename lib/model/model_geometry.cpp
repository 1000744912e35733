// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/model_geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"

namespace attnbench {
namespace {

AttentionLayer mla_layer(const ModelGeometry& model) {
  AttentionLayer layer;
  layer.kind = AttentionKind::kMlaAbsorbed;
  layer.heads_kv = 1;
  layer.head_dim_qk = model.kv_lora_rank + model.qk_rope_head_dim;
  layer.head_dim_v = model.kv_lora_rank;
  // The absorbed form computes the same logits as heads of nope + rope, so it keeps their scale.
  layer.scale = 1.0 / std::sqrt(model.qk_nope_head_dim + model.qk_rope_head_dim);
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
  layer.scale = 1.0 / std::sqrt(scalar);
  return layer;
}

}  // namespace

AttentionLayer layer_of(const ModelGeometry& model, int tp) {
  if (tp < 1 || model.heads_q % tp != 0) {
    throw ConfigError(
        fmt::format("{} query heads do not divide among tp {} ranks", model.heads_q, tp));
  }
  AttentionLayer layer = model.is_mla() ? mla_layer(model) : mha_layer(model, tp);
  layer.heads_q = model.heads_q / tp;
  layer.logit_cap = model.softcap;
  layer.has_sinks = model.sinks;
  if (model.window_layers == "all") layer.sliding_window_size = model.sliding_window - 1;
  return layer;
}

}  // namespace attnbench
