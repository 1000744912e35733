// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/hf_own_heads.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/error.h"

namespace attnbench {
namespace {

constexpr const char* kPerLayer = "per_layer_config";

/// What one kind of layers has.
struct Heads {
  int q = 0, kv = 0, dim = 0, dim_v = 0;
  bool operator==(const Heads&) const = default;
};

Heads heads_of(const ModelGeometry& model) {
  return {model.heads_q, model.heads_kv, model.head_dim, model.head_dim_v};
}

int own(int figure, int others) { return figure == others ? 0 : figure; }

/// A model of one kind has its heads; of both, the full layers' are the model's.
void set_heads(const Heads& full, const Heads& sliding, ModelGeometry& model) {
  const bool only_slides = model.kinds[LayerKind::kFull] == 0;
  const Heads& main = only_slides ? sliding : full;
  model.heads_q = main.q;
  model.heads_kv = main.kv;
  model.head_dim = main.dim;
  model.head_dim_v = main.dim_v;
  if (only_slides || model.kinds[LayerKind::kSliding] == 0) return;
  model.sliding.heads_q = own(sliding.q, full.q);
  model.sliding.heads_kv = own(sliding.kv, full.kv);
  model.sliding.head_dim = own(sliding.dim, full.dim);
  model.sliding.head_dim_v = own(sliding.dim_v, full.dim_v);
}

int read_figure(const JsonFields& config, std::string_view key, std::int64_t most, int fallback) {
  if (!config.states(key)) return fallback;
  return static_cast<int>(*config.whole(key, 1, most));
}

/// transformers' Gemma4TextConfig: KV heads of full layers differ only with attention_k_eq_v.
void read_global(const JsonFields& config, ModelGeometry& model) {
  constexpr int kGlobalHeadDim = 512;  // its default
  const Heads sliding = heads_of(model);
  Heads full = sliding;
  full.dim = read_figure(config, "global_head_dim", kMaxHeadDim, kGlobalHeadDim);
  const int stated = read_figure(config, "num_global_key_value_heads", kMaxHeads, sliding.kv);
  if (config.flag("attention_k_eq_v").value_or(false)) full.kv = stated;
  set_heads(full, sliding, model);
}

/// transformers' MiMoV2FlashAttention doubles the KV heads of sliding layers, which only have
/// sinks. The published files say the same by keys of their own, which vLLM's models/mimo_v2.py
/// reads.
void read_swa(const JsonFields& config, ModelGeometry& model) {
  const Heads full = heads_of(model);
  Heads sliding = full;
  sliding.q = read_figure(config, "swa_num_attention_heads", kMaxHeads, full.q);
  sliding.kv = read_figure(config, "swa_num_key_value_heads", kMaxHeads, 2 * full.kv);
  sliding.dim = read_figure(config, "swa_head_dim", kMaxHeadDim, full.dim);
  sliding.dim_v = read_figure(config, "swa_v_head_dim", kMaxHeadDim, full.dim_v);
  set_heads(full, sliding, model);
  model.sinks = config.flag("add_full_attention_sink_bias").value_or(false);
  const bool has_sinks = config.flag("add_swa_attention_sink_bias").value_or(true);
  if (model.kinds[LayerKind::kSliding] == 0) return;
  model.sliding.sinks = has_sinks && !model.sinks;
  if (!has_sinks && model.sinks) {
    throw ConfigError(fmt::format("{} without that of sliding layers is not supported",
                                  config.path_of("add_full_attention_sink_bias")));
  }
  // Keys before the query, by transformers and SGLang; vLLM counts the query's own among them.
  if (!config.states("sliding_window_size")) return;
  const std::int64_t before = *config.whole("sliding_window_size", 1, kMaxWindow - 1);
  model.sliding_window = before + 1;
  model.add_note(fmt::format(
      "a sliding layer sees {} keys before the query, as in transformers and SGLang; vLLM lets it "
      "see {}",
      before, before - 1));
}

LayerKind kind_of(const JsonFields& config, const std::string& word) {
  if (word == "full_attention") return LayerKind::kFull;
  if (word == "sliding_attention") return LayerKind::kSliding;
  throw ConfigError(fmt::format("{} beside layers of another kind, {}, is not supported",
                                config.path_of(kPerLayer), shown(word)));
}

Heads heads_of_layer(const JsonFields& layers, const std::string& layer, const Heads& others) {
  if (!layers.states(layer)) return others;
  const JsonFields one = *layers.object(layer);
  Heads heads = others;
  heads.q = read_figure(one, "num_attention_heads", kMaxHeads, others.q);
  heads.kv = read_figure(one, "num_key_value_heads", kMaxHeads, others.kv);
  heads.dim = read_figure(one, "head_dim", kMaxHeadDim, others.dim);
  for (const std::string& key : one.unread_keys()) {
    if (one.says_none(key)) continue;
    throw ConfigError(fmt::format(
        "{} is not supported: layers may differ in num_attention_heads, num_key_value_heads and "
        "head_dim",
        one.path_of(key)));
  }
  return heads;
}

void read_per_layer(const JsonFields& config, ModelGeometry& model) {
  const JsonFields layers = *config.object(kPerLayer);
  if (!config.states("layer_types")) {
    throw ConfigError(
        fmt::format("{} needs layer_types beside it, which says of what kind each layer is",
                    config.path_of(kPerLayer)));
  }
  const std::vector<std::string> words = *config.words("layer_types");
  const Heads others = heads_of(model);
  std::optional<Heads> full, sliding;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = std::to_string(i);
    std::optional<Heads>& of_kind = kind_of(config, words[i]) == LayerKind::kFull ? full : sliding;
    const Heads heads = heads_of_layer(layers, name, others);
    if (of_kind.value_or(heads) != heads) {
      throw ConfigError(
          fmt::format("{} differs from another {} layer, and layers of a kind are one",
                      layers.path_of(name), words[i]));
    }
    of_kind = heads;
  }
  for (const std::string& key : layers.unread_keys()) {
    throw ConfigError(fmt::format("{} is none of the {} layers, which count from 0",
                                  layers.path_of(key), words.size()));
  }
  set_heads(full.value_or(others), sliding.value_or(others), model);
}

/// Gemma 4's tokens of an image see each other; in an encoder all tokens would.
void refuse_encoders(const JsonFields& config) {
  constexpr std::string_view kKey = "use_bidirectional_attention";
  if (!config.states(kKey)) return;
  const std::string word = *config.word(kKey);
  if (word == "vision") return;
  throw ConfigError(
      fmt::format("{} is {}; only \"vision\" is supported", config.path_of(kKey), shown(word)));
}

}  // namespace

void read_hf_own_heads(const JsonFields& config, const HfModelType& type, ModelGeometry& model) {
  if (type.own_heads == HfOwnHeads::kGlobal) refuse_encoders(config);
  if (config.states(kPerLayer) && !config.says_none(kPerLayer)) {
    read_per_layer(config, model);
  } else if (type.own_heads == HfOwnHeads::kGlobal) {
    read_global(config, model);
  } else if (type.own_heads == HfOwnHeads::kSwa) {
    read_swa(config, model);
  }
  for (const LayerKind kind : {LayerKind::kFull, LayerKind::kSliding}) {
    const ModelGeometry heads = with_heads_of(model, kind);
    if (heads.heads_q % heads.heads_kv == 0) continue;
    throw ConfigError(
        fmt::format("{} query heads of the {} layers are no multiple of their {} KV "
                    "heads",
                    heads.heads_q, to_string(kind), heads.heads_kv));
  }
}

}  // namespace attnbench
