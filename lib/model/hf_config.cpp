// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/hf_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/regular_file.h"
#include "lib/config/json_fields.h"
#include "lib/model/hf_compressed_rows.h"
#include "lib/model/hf_known_keys.h"
#include "lib/model/hf_layer_kinds.h"
#include "lib/model/hf_model_types.h"
#include "lib/model/hf_own_heads.h"

namespace attnbench {
namespace {

// Published configs have some kilobytes; quantised ones that list their layers some hundred.
constexpr std::size_t kMaxBytes = std::size_t{8} << 20;
constexpr double kTiny = 1e-6;
constexpr double kHuge = 1e6;
constexpr std::int64_t kMaxHidden = kMaxHeads * kMaxHeadDim;

/// A whole number under either of its names.
std::optional<int> figure(const JsonFields& config, const HfNames& names, std::int64_t hi) {
  const auto first = config.whole(names.first, 1, hi);
  const auto second = names.second.empty() ? std::nullopt : config.whole(names.second, 1, hi);
  if (first && second && *first != *second) {
    throw ConfigError(fmt::format("{} and {} are two names of one figure and differ: {} and {}",
                                  config.path_of(names.first), names.second, *first, *second));
  }
  const auto stated = first ? first : second;
  return stated ? std::optional(static_cast<int>(*stated)) : std::nullopt;
}

/// Null counts as absent where the type itself has no figure as its default.
std::optional<int> optional_figure(const JsonFields& config, const HfNames& names, bool may_be_null,
                                   std::int64_t hi) {
  if (may_be_null && config.is_null(names.first)) return std::nullopt;
  return figure(config, names, hi);
}

int kv_heads(const JsonFields& config, const HfModelType& type, int heads_q) {
  const bool as_heads = type.heads_kv == 0;
  const int stated = optional_figure(config, type.heads_kv_names, as_heads, kMaxHeads)
                         .value_or(as_heads ? heads_q : type.heads_kv);
  const auto flag = [&](std::string_view key, bool fallback) {
    return config.flag(key).value_or(fallback);
  };
  switch (type.kv_rule) {
    case HfKvRule::kStated:
      return stated;
    case HfKvRule::kAsHeads:
      return heads_q;
    case HfKvRule::kFalcon:
      return flag("new_decoder_architecture", false) || !flag("multi_query", true) ? stated : 1;
    case HfKvRule::kChatGlm:
      return flag("multi_query_attention", false) ? stated : heads_q;
  }
  return stated;
}

int head_dim_of(const JsonFields& config, const HfModelType& type, int heads_q) {
  const auto stated = optional_figure(config, type.head_dim_names, type.head_dim == 0, kMaxHeadDim);
  if (stated) return *stated;
  if (type.head_dim > 0) return type.head_dim;
  const int hidden = figure(config, type.hidden_names, kMaxHidden).value_or(type.hidden_size);
  if (hidden % heads_q != 0 || hidden / heads_q > kMaxHeadDim) {
    throw ConfigError(fmt::format(
        "{} is missing, and hidden_size {} shared among {} heads gives no whole number from 1 to "
        "{}",
        config.path_of(type.head_dim_names.first), hidden, heads_q, kMaxHeadDim));
  }
  return hidden / heads_q;
}

/// ALiBi, and what else MPT keeps in attn_config.
void read_mpt(const JsonFields& config, ModelGeometry& model) {
  model.alibi = true;
  if (!config.states("attn_config")) return;
  const JsonFields attention = *config.object("attn_config");
  model.alibi = attention.flag("alibi").value_or(true);
  if (attention.states("softmax_scale")) {
    model.attention_multiplier = *attention.number("softmax_scale", kTiny, kHuge);
  }
  if (const auto kind = attention.word("attn_type"); kind && *kind != "multihead_attention") {
    throw ConfigError(fmt::format("{} is {}; only multihead_attention is known",
                                  attention.path_of("attn_type"), shown(*kind)));
  }
  if (const auto most = attention.number("alibi_bias_max", 0, kHuge); most && *most != 8) {
    throw ConfigError(
        fmt::format("{} is {:g}; only 8 is supported, the value of the method's authors",
                    attention.path_of("alibi_bias_max"), *most));
  }
}

void read_alibi(const JsonFields& config, const HfModelType& type, ModelGeometry& model) {
  if (type.model_type == "mpt") read_mpt(config, model);
  if (type.model_type == "bloom") model.alibi = true;
  if (type.model_type == "falcon" && config.states("alibi") && *config.flag("alibi")) {
    throw ConfigError(
        fmt::format("{} is true: Falcon also divides the bias by sqrt(head_dim), which attnbench "
                    "does not support",
                    config.path_of("alibi")));
  }
}

/// transformers reads rope_scaling, and rope_parameters where that is absent.
YarnScaling yarn_of(const JsonFields& config) {
  const std::string_view key = config.states("rope_scaling") ? "rope_scaling" : "rope_parameters";
  if (!config.states(key)) return {};
  const JsonFields rope = *config.object(key);
  const auto type = rope.states("rope_type") ? rope.word("rope_type") : rope.word("type");
  if (!rope.states("mscale_all_dim")) return {};
  YarnScaling yarn;
  yarn.mscale_all_dim = *rope.number("mscale_all_dim", 0, 100);
  if (yarn.mscale_all_dim == 0) return {};
  if (!type) {
    throw ConfigError(fmt::format("{} is given without a type that says whether it applies",
                                  rope.path_of("mscale_all_dim")));
  }
  if (*type == "default") return {};
  const auto factor = rope.number("factor", 1, kHuge);
  if (!factor) {
    throw ConfigError(fmt::format("{} is missing beside mscale_all_dim", rope.path_of("factor")));
  }
  yarn.factor = *factor;
  return yarn;
}

void read_mla(const JsonFields& config, const HfModelType& type, ModelGeometry& model) {
  const auto rank = [&](const char* key, int fallback, int least = 1) {
    return static_cast<int>(config.whole(key, least, kMaxHeadDim).value_or(fallback));
  };
  model.kv_lora_rank = rank("kv_lora_rank", type.kv_lora_rank);
  model.qk_nope_head_dim = rank("qk_nope_head_dim", type.qk_nope_head_dim);
  // A type that has none by default may say so.
  model.qk_rope_head_dim =
      rank("qk_rope_head_dim", type.qk_rope_head_dim, type.qk_rope_head_dim > 0 ? 1 : 0);
  model.head_dim_v = rank("v_head_dim", type.v_head_dim);
  if (type.yarn_scales_softmax) model.yarn = yarn_of(config);
  if (type.index_topk == 0 || type.index_pool > 0) return;
  model.index_topk =
      static_cast<int>(config.whole("index_topk", 1, kMaxWindow).value_or(type.index_topk));
  model.index_n_heads =
      static_cast<int>(config.whole("index_n_heads", 1, kMaxHeads).value_or(type.index_n_heads));
}

void read_heads(const JsonFields& config, const HfModelType& type, ModelGeometry& model) {
  model.heads_kv = kv_heads(config, type, model.heads_q);
  if (model.heads_q % model.heads_kv != 0) {
    throw ConfigError(fmt::format("{} is {}, no divisor of {} query heads",
                                  config.path_of(type.heads_kv_names.first), model.heads_kv,
                                  model.heads_q));
  }
  model.head_dim = head_dim_of(config, type, model.heads_q);
  if (type.query_pre_attn_scalar > 0) {
    model.query_pre_attn_scalar =
        config.number("query_pre_attn_scalar", kTiny, kHuge).value_or(type.query_pre_attn_scalar);
  }
  if (type.attention_multiplier > 0) {
    model.attention_multiplier =
        config.number("attention_multiplier", kTiny, kHuge).value_or(type.attention_multiplier);
  }
  if (type.softcap > 0 && !config.is_null("attn_logit_softcapping")) {
    model.softcap = config.number("attn_logit_softcapping", kTiny, kHuge).value_or(type.softcap);
  }
  // xAI's config of Grok 2; SGLang (models/grok.py) reads -1, its default, as no temperature.
  if (config.states("attn_temperature_len")) {
    const auto len = *config.whole("attn_temperature_len", -1, kMaxWindow);
    if (len == 0 || len == 1) {
      throw ConfigError(
          fmt::format("{} is {}; a temperature begins at 2 tokens or more, and -1 is none",
                      config.path_of("attn_temperature_len"), len));
    }
    model.temperature_len = std::max<std::int64_t>(len, 0);
    if (len > 0) {
      model.add_note(fmt::format(
          "logits of queries behind {0} tokens are multiplied by log2(their place) / log2({0})",
          len));
    }
  }
  model.sinks = type.sinks;
  if (type.v_head_dim > 0) {
    model.head_dim_v =
        static_cast<int>(config.whole("v_head_dim", 1, kMaxHeadDim).value_or(type.v_head_dim));
  }
  read_alibi(config, type, model);
}

/// Of Qwen2.5-1M, whatever the model type, as engines read it; sizes that are left out are those of
/// vLLM's vllm/attention/backends/dual_chunk_flash_attn.py.
void read_dual_chunk(const JsonFields& config, ModelGeometry& model) {
  constexpr std::string_view kKey = "dual_chunk_attention_config";
  if (!config.states(kKey)) return;
  const JsonFields dual = *config.object(kKey);
  const DualChunk read{dual.whole("chunk_size", 1, kMaxWindow).value_or(8192),
                       dual.whole("local_size", 0, kMaxWindow).value_or(1024)};
  if (read.local_size >= read.chunk_size) {
    throw ConfigError(fmt::format("{} is {}, not below chunk_size {}", dual.path_of("local_size"),
                                  read.local_size, read.chunk_size));
  }
  if (model.is_mla() || model.alibi || model.kinds[LayerKind::kFull] != model.layers) {
    throw ConfigError(fmt::format(
        "{} is of models whose layers all have plain heads and full attention, without ALiBi",
        config.path_of(kKey)));
  }
  model.dual_chunk = read;
  model.add_note("dual-chunk attention without its sparse patterns and its scaling by length");
}

/// Keys that say which layers see which keys, or share them. A type that does not read them has
/// them in a meaning that only its modelling code could tell.
void refuse_unread_kinds(const JsonFields& config, const HfModelType& type) {
  using enum HfLayerRule;
  struct KindKey {
    std::string_view key;
    bool is_read = false;
  };
  const bool by_attn_types = type.rule == kByAttnTypeList;
  for (const auto& [key, is_read] :
       {KindKey{"attention_chunk_size", type.rule == kChunkedExceptNth},
        KindKey{"attn_layer_period", type.rule == kFullByPeriod},
        KindKey{"attn_layer_offset", type.rule == kFullByPeriod},
        KindKey{"hybrid_override_pattern", type.rule == kByPattern},
        KindKey{"layers_block_type", type.rule == kByPattern},
        KindKey{"linear_attn_config", type.linear_kind == LinearAttentionKind::kKimiDelta},
        KindKey{"attn_type_list", by_attn_types || all_full(config, "attn_type_list")},
        KindKey{"index_topk", type.index_topk > 0}, KindKey{"index_kpool", type.index_pool > 0},
        KindKey{"indexer_budget", type.rule == kIndexedEveryNth},
        KindKey{"compress_ratios", type.rule == kByCompressRatios},
        KindKey{"compress_rates", type.rule == kByCompressRatios},
        KindKey{"cross_attention_layers", type.rule == kCrossListed},
        KindKey{"num_kv_shared_layers", type.shares_kv},
        KindKey{"global_head_dim", type.own_heads == HfOwnHeads::kGlobal},
        KindKey{"num_global_key_value_heads", type.own_heads == HfOwnHeads::kGlobal},
        KindKey{"hybrid_layer_pattern", type.own_heads == HfOwnHeads::kSwa},
        KindKey{"sliding_window_size", type.own_heads == HfOwnHeads::kSwa},
        KindKey{"per_layer_config", type.has_layer_types && type.kv_lora_rank == 0},
        // The table has no such type: Bamba, LFM2, Zamba 2 and RecurrentGemma.
        KindKey{"attn_layer_indices"}, KindKey{"full_attn_idxs"}, KindKey{"hybrid_layer_ids"},
        KindKey{"block_types"},
        // Laguna's and MiniMax M3's.
        KindKey{"num_attention_heads_per_layer"}, KindKey{"index_topk_blocks"}}) {
    if (is_read || config.says_none(key)) continue;
    throw ConfigError(fmt::format(
        "{} changes what layers attend to, and what it means for model type {} is not known: give "
        "the geometry of a layer inline, {{heads_q: …}}",
        config.path_of(key), shown(std::string(type.model_type))));
  }
}

ModelGeometry geometry_of(const JsonFields& config, const HfModelType& type,
                          std::span<const std::string> ignored) {
  refuse_unread_kinds(config, type);
  if (type.states_all) {
    std::vector<std::string> missing;
    for (const HfNames& names :
         {type.layers_names, type.heads_q_names, type.heads_kv_names, type.head_dim_names}) {
      if (!config.states(names.first)) missing.push_back(names.first);
    }
    if (!missing.empty()) {
      throw ConfigError(fmt::format("model type {} has no defaults here; state {}",
                                    shown(std::string(type.model_type)), fmt::join(missing, ", ")));
    }
  }
  ModelGeometry model;
  const int layers_of_each = type.rule == HfLayerRule::kCrossBesideEach ? 2 : 1;
  model.layers =
      figure(config, type.layers_names, kMaxLayers / layers_of_each).value_or(type.layers);
  model.heads_q = figure(config, type.heads_q_names, kMaxHeads).value_or(type.heads_q);
  if (type.rule == HfLayerRule::kByCompressRatios) {
    read_hf_compressed_rows(config, type, model);
  } else if (type.kv_lora_rank > 0) {
    read_mla(config, type, model);
  } else {
    read_heads(config, type, model);
  }
  read_hf_layer_kinds(config, type, model);
  if (!model.is_mla()) read_hf_own_heads(config, type, model);
  read_hf_linear_layers(config, type, model);
  read_dual_chunk(config, model);
  if (type.encoder_len > 0) {
    model.encoder_len =
        config.whole("max_source_positions", 1, kMaxWindow).value_or(type.encoder_len);
  }
  refuse_unknown_keys(config, type, ignored);
  if (!ignored.empty()) {
    model.add_note(
        fmt::format("keys of its config.json that were ignored: {}", fmt::join(ignored, ", ")));
  }
  return model;
}

/// Llama 3.2 Vision: each of an image's tiles is so many patches and a class token; serving engines
/// fill an image up to the most tiles (SGLang's models/mllama.py). Defaults are transformers'
/// (mllama/configuration_mllama.py).
void read_tiles(const JsonFields& file, ModelGeometry& model) {
  if (model.kinds[LayerKind::kCross] == 0 || !file.states("vision_config")) return;
  constexpr std::int64_t kMostPixels = 1 << 16, kMostTiles = 1 << 10;
  const JsonFields vision = *file.object("vision_config");
  const std::int64_t pixels = vision.whole("image_size", 1, kMostPixels).value_or(448);
  const std::int64_t patch = vision.whole("patch_size", 1, kMostPixels).value_or(14);
  const std::int64_t tiles = vision.whole("max_num_tiles", 1, kMostTiles).value_or(4);
  const std::int64_t side = pixels / patch;
  model.encoder_len = tiles * (side * side + 1);
  if (model.encoder_len > kMaxWindow) {
    throw ConfigError(fmt::format("{} gives an image {} tokens, more than {}",
                                  file.path_of("vision_config"), model.encoder_len, kMaxWindow));
  }
}

/// A type that the table has not: plain heads that the config states, with nothing beside them
/// whose meaning only its modelling code could tell.
HfModelType unknown_type(const JsonFields& config, const std::string& name) {
  const auto has_values_like_keys = [&config] {
    return config.states("head_dim") &&
           config.whole("v_head_dim", 1, kMaxHeadDim) == config.whole("head_dim", 1, kMaxHeadDim);
  };
  for (const std::string_view key :
       {"kv_lora_rank", "query_pre_attn_scalar", "attention_multiplier", "attn_logit_softcapping",
        "alibi", "attn_config", "multi_query", "multi_query_attention", "multi_query_group_num",
        "is_encoder_decoder", "v_head_dim"}) {
    if (!config.states(key) || config.is_false(key)) continue;
    if (key == "v_head_dim" && has_values_like_keys()) continue;
    throw ConfigError(fmt::format(
        "model type {} is unknown, so the meaning of {} is unknown, too: give the geometry inline, "
        "{{heads_q: …}}",
        shown(name), config.path_of(key)));
  }
  HfModelType type;
  type.model_type = name;
  type.states_all = true;
  type.has_layer_types = true;
  // With a window it takes layer_types to say where.
  const bool slides = config.states("sliding_window") &&
                      (!config.has("use_sliding_window") || *config.flag("use_sliding_window"));
  if (slides && !config.states("layer_types")) {
    throw ConfigError(
        fmt::format("model type {} is unknown and states a sliding_window: state layer_types too",
                    shown(name)));
  }
  if (slides) type.rule = HfLayerRule::kWindow;
  return type;
}

ModelGeometry read_config(const JsonFields& file, std::span<const std::string> ignored) {
  // Multimodal models keep the language model's fields in a part of their own.
  const bool nested = file.states("text_config");
  const std::string outer = file.word("model_type").value_or("");
  // A checkpoint without a tower may have them at the top (glm5_next/configuration_glm5_next.py).
  const bool may_be_flat = outer == "glm5_next";
  if (!nested && !may_be_flat && !hf_text_model_type(outer).empty()) {
    throw ConfigError(
        fmt::format("text_config is missing: model type {} keeps its layers there", outer));
  }
  const JsonFields config = nested ? *file.object("text_config") : file;
  std::string name = nested || may_be_flat ? std::string(hf_text_model_type(outer)) : outer;
  if (nested && config.has("model_type")) name = *config.word("model_type");
  if (const HfModelType* type = find_hf_model_type(name)) {
    ModelGeometry model = geometry_of(config, *type, ignored);
    read_tiles(file, model);
    model.multimodal = nested || model.kinds[LayerKind::kCross] > 0;
    return model;
  }
  return geometry_of(config, unknown_type(config, name), ignored);
}

}  // namespace

ModelGeometry parse_hf_config(std::string_view text, const std::string& name,
                              std::span<const std::string> ignored) {
  try {
    const nlohmann::json parsed = parse_json_object(text);
    ModelGeometry model = read_config(JsonFields(parsed, ""), ignored);
    model.name = name;
    return model;
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: {}", name, error.diagnostics().front().message));
  }
}

ModelGeometry model_from_hf_config(const std::string& path, std::span<const std::string> ignored) {
  return parse_hf_config(read_regular_file(path, kMaxBytes), path, ignored);
}

}  // namespace attnbench
