// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/hf_layer_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "lib/base/error.h"
#include "lib/model/hf_compressed_rows.h"
#include "lib/model/hf_index_sharing.h"
#include "lib/model/hf_layer_types.h"
#include "lib/model/hf_pooled_indexer.h"

namespace attnbench {
namespace {

void check_length(const JsonFields& config, std::string_view key, std::size_t found, int layers) {
  if (found == static_cast<std::size_t>(layers)) return;
  throw ConfigError(
      fmt::format("{} has {} entries for {} layers", config.path_of(key), found, layers));
}

/// Of the layers from `first` on.
LayerCounts from_layer_types(const JsonFields& config, int layers, int first = 0) {
  const std::vector<std::string> words = *config.words("layer_types");
  check_length(config, "layer_types", words.size(), layers);
  LayerCounts kinds;
  for (const std::string& word : std::span(words).subspan(static_cast<std::size_t>(first))) {
    ++kinds[kind_of_layer_type(word, config.path_of("layer_types"))];
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

/// Jamba's: layers offset, offset + period, … are full.
int full_by_period(const JsonFields& config, int offset, int period, int layers) {
  offset = static_cast<int>(config.whole("attn_layer_offset", 0, kMaxLayers).value_or(offset));
  if (offset >= period) {
    throw ConfigError(fmt::format("{} is {}, not below attn_layer_period {}",
                                  config.path_of("attn_layer_offset"), offset, period));
  }
  return layers <= offset ? 0 : (layers - offset - 1) / period + 1;
}

/// Llama 3.2 Vision's; without the list transformers' default (mllama/configuration_mllama.py).
int cross_layers(const JsonFields& config, int layers) {
  constexpr std::string_view kKey = "cross_attention_layers";
  std::vector<std::int64_t> places = {3, 8, 13, 18, 23, 28, 33, 38};
  if (config.states(kKey)) {
    places = *config.wholes(kKey, 0, layers - 1);
  } else {
    std::erase_if(places, [&](std::int64_t place) { return place >= layers; });
  }
  if (std::set(places.begin(), places.end()).size() != places.size()) {
    throw ConfigError(fmt::format("{} names a layer twice", config.path_of(kKey)));
  }
  return static_cast<int>(std::ssize(places));
}

struct BlockWord {
  std::string_view letter, word;
  std::optional<LayerKind> kind;  ///< none: it mixes no tokens
};
// transformers' nemotron_h/configuration_nemotron_h.py, and the words' older names
// (_LEGACY_LAYER_TYPE_REMAP in configuration_utils.py).
constexpr BlockWord kBlockWords[] = {{"*", "full_attention", LayerKind::kFull},
                                     {"*", "attention", LayerKind::kFull},
                                     {"M", "linear_attention", LayerKind::kLinear},
                                     {"M", "mamba", LayerKind::kLinear},
                                     {"E", "moe", std::nullopt},
                                     {"-", "mlp", std::nullopt}};

/// Nemotron-H's blocks, whose number is that of the pattern's letters or of the list's words; of
/// those without attention the model has none.
void read_pattern(const JsonFields& config, ModelGeometry& model) {
  std::string_view key = "hybrid_override_pattern";
  for (const std::string_view list :
       {"layer_types", "layers_block_type"}) {  // one, to transformers
    if (config.states(list)) key = list;
  }
  const bool in_words = key != "hybrid_override_pattern";
  std::vector<std::string> blocks = {"M", "E", "*", "-"};  // transformers' default
  if (in_words) {
    blocks = *config.words(key);
  } else if (config.states(key)) {
    blocks.clear();
    const std::string pattern = *config.word(key);
    for (const char letter : pattern) blocks.emplace_back(1, letter);
  }
  if (config.states("num_hidden_layers")) check_length(config, key, blocks.size(), model.layers);
  model.kinds = {};
  for (const std::string& block : blocks) {
    const auto* known = std::ranges::find(kBlockWords, std::string_view(block),
                                          in_words ? &BlockWord::word : &BlockWord::letter);
    if (known == std::end(kBlockWords)) {
      throw ConfigError(fmt::format(
          "{} has {}; known are {}", config.path_of(key), shown(block),
          in_words ? "attention, mamba, moe and mlp" : "\"*\", \"M\", \"E\" and \"-\""));
    }
    if (known->kind) ++model.kinds[*known->kind];
  }
  model.layers = model.kinds.total();
  if (model.layers == 0) {
    throw ConfigError(fmt::format("{} has no block with attention", config.path_of(key)));
  }
  const auto others = std::ssize(blocks) - model.layers;
  if (others > 0) {
    model.add_note(fmt::format("{} of its {} blocks have no attention and do not count as layers",
                               others, blocks.size()));
  }
}

/// Every nth layer is full, counted from 1, and of some types the first or the last one, too.
/// MiMo-V2's own list says it layer by layer, 1 for a sliding one.
int sliding_layers(const JsonFields& config, const HfModelType& type, int nth, int layers) {
  if (type.own_heads == HfOwnHeads::kSwa && config.states("hybrid_layer_pattern")) {
    return ones_of(config, "hybrid_layer_pattern", layers);
  }
  const bool first = type.also_full == HfAlsoFull::kFirst && nth > 1;
  const bool last = type.also_full == HfAlsoFull::kLast && layers % nth != 0;
  return layers - layers / nth - (first || last ? 1 : 0);
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
      return full_but(LayerKind::kSliding, windowed ? sliding_layers(config, type, nth, layers) : 0,
                      layers);
    case HfLayerRule::kChunkedExceptNth:
      return full_but(LayerKind::kChunked,
                      model.attention_chunk > 0 ? chunked_layers(config, nth, layers) : 0, layers);
    case HfLayerRule::kLinearExceptNth:
    case HfLayerRule::kIndexedEveryNth:
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
    case HfLayerRule::kFullByPeriod:
      return full_but(LayerKind::kLinear, layers - full_by_period(config, type.offset, nth, layers),
                      layers);
    case HfLayerRule::kSparse:
      return {LayerKind::kSparse, layers};
    case HfLayerRule::kByCompressRatios:
      return kinds_by_compress_ratios(config, layers);
    case HfLayerRule::kCrossListed:
      return full_but(LayerKind::kCross, cross_layers(config, layers), layers);
    case HfLayerRule::kCrossBesideEach:
      return full_but(LayerKind::kCross, layers / 2, layers);
    case HfLayerRule::kByPattern:
      break;  // read_pattern
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
         type.rule == HfLayerRule::kWindowByFlag || type.rule == HfLayerRule::kWindowExceptNth ||
         type.rule == HfLayerRule::kByCompressRatios;
}

/// Gemma 3n: the last layers read the keys of the last layer of their kind before them.
void read_kv_sharing(const JsonFields& config, const HfModelType& type, ModelGeometry& model) {
  if (!type.shares_kv) return;
  constexpr std::string_view kKey = "num_kv_shared_layers";
  const int shared =
      static_cast<int>(config.whole(kKey, 0, model.layers - 1)
                           .value_or(std::min(type.kv_shared_layers, model.layers - 1)));
  if (shared == 0) return;
  const int writers = model.layers - shared;
  if (config.states("layer_types")) {
    model.kv_shared = from_layer_types(config, model.layers, writers);
  } else {
    ModelGeometry first = model;
    first.layers = writers;
    HfModelType before = type;  // the last of them is not the model's last one
    if (before.also_full == HfAlsoFull::kLast) before.also_full = HfAlsoFull::kNone;
    const LayerCounts own = from_rule(config, before, first);
    for (const LayerKind kind : kLayerKinds) model.kv_shared[kind] = model.kinds[kind] - own[kind];
  }
  for (const LayerKind kind : kLayerKinds) {
    if (model.kv_shared[kind] == 0 || model.kv_shared[kind] < model.kinds[kind]) continue;
    throw ConfigError(fmt::format("{} is {}: no {} layer stands before them, whose keys they read",
                                  config.path_of(kKey), shared, to_string(kind)));
  }
  model.add_note(fmt::format(
      "the last {} layers ({}) read the keys and values of an earlier layer and write none", shared,
      model.kv_shared.text()));
}

std::int64_t chunk_of(const JsonFields& config, const HfModelType& type) {
  if (config.is_null("attention_chunk_size")) return 0;
  return config.whole("attention_chunk_size", 1, kMaxWindow).value_or(type.attention_chunk);
}

/// What a config calls the heads and dims of its linear layers, and the taps before them.
struct LinearKeys {
  const char *key_heads, *value_heads, *key_dim, *value_dim, *taps;
};
constexpr LinearKeys kDeltaNetKeys = {"linear_num_key_heads", "linear_num_value_heads",
                                      "linear_key_head_dim", "linear_value_head_dim",
                                      "linear_conv_kernel_dim"};
constexpr LinearKeys kMamba2Keys = {"n_groups", "mamba_num_heads", "ssm_state_size",
                                    "mamba_head_dim", "conv_kernel"};

/// In Kimi's own map, before the keys in which transformers saves it.
void read_kimi_delta(const JsonFields& config, const HfModelType& type, ModelGeometry& model) {
  const auto layers =
      config.states("linear_attn_config") ? config.object("linear_attn_config") : std::nullopt;
  const auto read = [&](const char* key, const char* saved_as, std::int64_t most, int fallback) {
    const auto own = layers ? layers->whole(key, 1, most) : std::nullopt;
    const auto saved = config.whole(saved_as, 1, most);
    return static_cast<int>(own.value_or(saved.value_or(fallback)));
  };
  model.linear_num_key_heads = model.linear_num_value_heads =
      read("num_heads", "linear_num_heads", kMaxHeads, type.linear_num_key_heads);
  model.linear_key_head_dim = model.linear_value_head_dim =
      read("head_dim", "linear_head_dim", kMaxHeadDim, type.linear_key_head_dim);
  model.linear_conv_kernel_dim = read("short_conv_kernel_size", "linear_conv_kernel_dim",
                                      kMaxHeadDim, model.linear_conv_kernel_dim);
}

}  // namespace

bool all_full(const JsonFields& config, std::string_view key) {
  if (!config.states(key)) return false;
  const std::vector<std::int64_t> flags = *config.wholes(key, 0, 1);
  return std::ranges::count(flags, 0) == 0;
}

void read_hf_layer_kinds(const JsonFields& config, const HfModelType& type, ModelGeometry& model) {
  if (knows_windows(type)) model.sliding_window = window_of(config, type);
  if (type.rule == HfLayerRule::kChunkedExceptNth) model.attention_chunk = chunk_of(config, type);
  const bool listed = config.states("layer_types");
  if (type.rule == HfLayerRule::kCrossBesideEach) {
    model.add_note(fmt::format(
        "its decoder's {} layers are a full and a cross one each; its encoder's, which keep "
        "nothing, do not count",
        model.layers));
    model.layers *= 2;
  }
  if (type.rule == HfLayerRule::kByPattern) {
    read_pattern(config, model);
  } else if (listed && type.has_layer_types) {
    model.kinds = from_layer_types(config, model.layers);
    if (type.also_full == HfAlsoFull::kLast &&
        config.words("layer_types")->back() == "sliding_attention") {
      throw ConfigError(fmt::format("{} ends with a sliding layer; the last one of a {} is full",
                                    config.path_of("layer_types"), type.model_type));
    }
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
  need(LayerKind::kCompressed, model.compress_ratio, "compress_rates");
  need(LayerKind::kChunked, model.attention_chunk, "attention_chunk_size");
  read_kv_sharing(config, type, model);
  read_hf_pooled_indexer(config, type, model);
  read_index_sharing(config, model);
  const bool stated = type.linear_kind != LinearAttentionKind::kUnknown;
  if (model.kinds[LayerKind::kLinear] > 0 && stated && !can_run(type.linear_kind)) {
    model.add_note(fmt::format("the linear layers are {}", to_string(type.linear_kind)));
  }
  const bool compresses = type.rule == HfLayerRule::kByCompressRatios;
  if (model.kinds[LayerKind::kSliding] == 0 && !compresses) model.sliding_window = 0;
  if (model.kinds[LayerKind::kChunked] == 0) model.attention_chunk = 0;
}

void read_hf_linear_layers(const JsonFields& config, const HfModelType& type,
                           ModelGeometry& model) {
  if (model.kinds[LayerKind::kLinear] == 0) return;
  model.linear_kind = type.linear_kind;
  if (model.linear_kind == LinearAttentionKind::kKimiDelta) {
    return read_kimi_delta(config, type, model);
  }
  if (model.linear_kind == LinearAttentionKind::kLightning) {  // heads and dims of its full layers
    model.linear_num_key_heads = model.linear_num_value_heads = model.heads_q;
    model.linear_key_head_dim = model.linear_value_head_dim = model.head_dim;
    model.linear_conv_kernel_dim = 1;
  }
  const bool is_mamba2 = model.linear_kind == LinearAttentionKind::kMamba2;
  if (model.linear_kind != LinearAttentionKind::kGatedDeltaNet && !is_mamba2) return;
  const LinearKeys& names = is_mamba2 ? kMamba2Keys : kDeltaNetKeys;
  const auto read = [&](const char* key, std::int64_t most, int fallback) {
    return static_cast<int>(config.whole(key, 1, most).value_or(fallback));
  };
  const int keys = read(names.key_heads, kMaxHeads, type.linear_num_key_heads);
  const int values = read(names.value_heads, kMaxHeads, type.linear_num_value_heads);
  if (values % keys != 0) {
    throw ConfigError(fmt::format("{} is {}, no multiple of {} {}",
                                  config.path_of(names.value_heads), values, keys,
                                  is_mamba2 ? "groups" : "key heads"));
  }
  model.linear_num_key_heads = keys;
  model.linear_num_value_heads = values;
  model.linear_key_head_dim = read(names.key_dim, kMaxHeadDim, type.linear_key_head_dim);
  model.linear_value_head_dim = read(names.value_dim, kMaxHeadDim, type.linear_value_head_dim);
  model.linear_conv_kernel_dim = read(names.taps, kMaxHeadDim, model.linear_conv_kernel_dim);
}

}  // namespace attnbench
