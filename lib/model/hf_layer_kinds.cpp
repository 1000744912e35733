// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/hf_layer_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lib/base/error.h"

namespace attnbench {
namespace {

struct KindWord {
  std::string_view word;
  LayerKind kind;
};
// transformers' ALLOWED_ATTN_LAYER_TYPES as far as attnbench has a word for them, and the names
// that they had before (_LEGACY_LAYER_TYPE_REMAP, both in configuration_utils.py).
constexpr KindWord kKindWords[] = {
    {"full_attention", LayerKind::kFull},       {"attention", LayerKind::kFull},
    {"sliding_attention", LayerKind::kSliding}, {"chunked_attention", LayerKind::kChunked},
    {"indexed_attention", LayerKind::kSparse},  {"deepseek_sparse_attention", LayerKind::kSparse},
    {"linear_attention", LayerKind::kLinear}};

void check_length(const JsonFields& config, std::string_view key, std::size_t found, int layers) {
  if (found == static_cast<std::size_t>(layers)) return;
  throw ConfigError(
      fmt::format("{} has {} entries for {} layers", config.path_of(key), found, layers));
}

LayerCounts from_layer_types(const JsonFields& config, int layers) {
  const std::vector<std::string> words = *config.words("layer_types");
  check_length(config, "layer_types", words.size(), layers);
  LayerCounts kinds;
  for (const std::string& word : words) {
    const auto* known = std::ranges::find(kKindWords, std::string_view(word), &KindWord::word);
    if (known == std::end(kKindWords)) {
      throw ConfigError(
          fmt::format("{} has {}; known are full_attention, sliding_attention, chunked_attention, "
                      "indexed_attention and linear_attention",
                      config.path_of("layer_types"), shown(word)));
    }
    ++kinds[known->kind];
  }
  return kinds;
}

/// `flagged` of all layers are of `kind`, the others full.
LayerCounts full_but(LayerKind kind, int flagged, int layers) {
  LayerCounts kinds(LayerKind::kFull, layers - flagged);
  kinds[kind] += flagged;
  return kinds;
}

/// How many entries of a list of zeros and ones are ones.
int ones_of(const JsonFields& config, std::string_view key, int layers) {
  const std::vector<std::int64_t> flags = *config.wholes(key, 0, 1);
  check_length(config, key, flags.size(), layers);
  return static_cast<int>(std::ranges::count(flags, 1));
}

int chunked_layers(const JsonFields& config, int nth, int layers) {
  // An empty list means what an absent one means.
  const auto rope =
      config.states("no_rope_layers") ? config.wholes("no_rope_layers", 0, 1) : std::nullopt;
  return rope && !rope->empty() ? ones_of(config, "no_rope_layers", layers) : layers - layers / nth;
}

/// Kimi's own lists, which count layers from 1; without them layers 4, 8, 12 … counted from 0.
int linear_layers(const JsonFields& config, int layers) {
  const auto lists =
      config.states("linear_attn_config") ? config.object("linear_attn_config") : std::nullopt;
  const auto full = lists ? lists->wholes("full_attn_layers", 1, layers) : std::nullopt;
  const auto linear = lists ? lists->wholes("kda_layers", 1, layers) : std::nullopt;
  if (!full && !linear) return layers - (layers - 1) / 4;
  std::set<std::int64_t> listed;
  if (full) listed.insert(full->begin(), full->end());
  if (linear) listed.insert(linear->begin(), linear->end());
  const bool whole = full && linear && listed.size() == full->size() + linear->size() &&
                     listed.size() == static_cast<std::size_t>(layers);
  if (!whole) {
    throw ConfigError(
        fmt::format("{} must name each of the {} layers once, in full_attn_layers or in kda_layers",
                    config.path_of("linear_attn_config"), layers));
  }
  return static_cast<int>(linear->size());
}

LayerCounts from_rule(const JsonFields& config, const HfModelType& type,
                      const ModelGeometry& model) {
  const int layers = model.layers;
  const bool windowed = model.sliding_window > 0;
  int nth = type.nth;
  if (!type.nth_key.empty()) {
    const int least = type.rule == HfLayerRule::kWindowFrom ? 0 : 1;
    nth = static_cast<int>(config.whole(type.nth_key, least, kMaxLayers).value_or(nth));
  }
  switch (type.rule) {
    case HfLayerRule::kFull:
      break;
    case HfLayerRule::kWindow:
    case HfLayerRule::kWindowByFlag:
      return full_but(LayerKind::kSliding, windowed ? layers : 0, layers);
    case HfLayerRule::kWindowFrom:
      return full_but(LayerKind::kSliding, windowed ? std::max(0, layers - nth) : 0, layers);
    case HfLayerRule::kWindowExceptNth:
      return full_but(LayerKind::kSliding, windowed ? layers - layers / nth : 0, layers);
    case HfLayerRule::kChunkedExceptNth:
      return full_but(LayerKind::kChunked,
                      model.attention_chunk > 0 ? chunked_layers(config, nth, layers) : 0, layers);
    case HfLayerRule::kLinearExceptNth:
      return full_but(LayerKind::kLinear, layers - layers / nth, layers);
    case HfLayerRule::kFullExceptNth:
      return full_but(LayerKind::kLinear, layers / nth, layers);
    case HfLayerRule::kLinearExceptListed:
      return full_but(LayerKind::kLinear, linear_layers(config, layers), layers);
    case HfLayerRule::kByAttnTypeList:
      if (!config.has("attn_type_list")) {
        throw ConfigError(fmt::format("{} is missing: 1 for each full layer, 0 for each linear one",
                                      config.path_of("attn_type_list")));
      }
      return full_but(LayerKind::kLinear, layers - ones_of(config, "attn_type_list", layers),
                      layers);
    case HfLayerRule::kSparse:
      return {LayerKind::kSparse, layers};
  }
  return {LayerKind::kFull, layers};
}

/// Zero where the config or its type switches the window off.
std::int64_t window_of(const JsonFields& config, const HfModelType& type) {
  const bool by_flag =
      type.rule == HfLayerRule::kWindowFrom || type.rule == HfLayerRule::kWindowByFlag;
  if (by_flag && !config.flag("use_sliding_window").value_or(false)) return 0;
  if (config.is_null("sliding_window")) return 0;
  return config.whole("sliding_window", 1, kMaxWindow).value_or(type.sliding_window);
}

bool knows_windows(const HfModelType& type) {
  return type.rule == HfLayerRule::kWindow || type.rule == HfLayerRule::kWindowFrom ||
         type.rule == HfLayerRule::kWindowByFlag || type.rule == HfLayerRule::kWindowExceptNth;
}

std::int64_t chunk_of(const JsonFields& config, const HfModelType& type) {
  if (config.is_null("attention_chunk_size")) return 0;
  return config.whole("attention_chunk_size", 1, kMaxWindow).value_or(type.attention_chunk);
}

}  // namespace

void read_hf_layer_kinds(const JsonFields& config, const HfModelType& type, ModelGeometry& model) {
  if (knows_windows(type)) model.sliding_window = window_of(config, type);
  if (type.rule == HfLayerRule::kChunkedExceptNth) model.attention_chunk = chunk_of(config, type);
  const bool listed = config.states("layer_types");
  if (listed && type.has_layer_types) {
    model.kinds = from_layer_types(config, model.layers);
  } else {
    model.kinds = from_rule(config, type, model);
    if (listed && from_layer_types(config, model.layers) != model.kinds) {
      throw ConfigError(
          fmt::format("{} contradicts model type {}, which ignores it and has {} layers",
                      config.path_of("layer_types"), type.model_type, model.kinds.text()));
    }
  }
  const auto need = [&](LayerKind kind, std::int64_t size, std::string_view key) {
    if (model.kinds[kind] == 0 || size > 0) return;
    throw ConfigError(fmt::format("{} has {} layers, but there is no {}",
                                  config.path_of("layer_types"), to_string(kind), key));
  };
  need(LayerKind::kSliding, model.sliding_window, "sliding_window");
  need(LayerKind::kChunked, model.attention_chunk, "attention_chunk_size");
  if (model.kinds[LayerKind::kSliding] == 0) model.sliding_window = 0;
  if (model.kinds[LayerKind::kChunked] == 0) model.attention_chunk = 0;
}

}  // namespace attnbench
