// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/hf_known_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "lib/base/embedded_file.h"
#include "lib/base/error.h"
#include "lib/config/data_row.h"
#include "lib/model/model_geometry.h"

namespace attnbench {

/// data/hf_known_keys.yaml, compiled in.
std::span<const EmbeddedFile> embedded_hf_known_keys();

namespace {

/// The lists of data/hf_known_keys.yaml, which says what each is for.
struct KnownKeys {
  using List = std::vector<std::string>;
  List harmless, harmless_words, state_space_prefixes, linear_layers;
  std::vector<List> rules;  ///< by HfLayerRule
};

const KnownKeys& known_keys() {
  static const KnownKeys read = [] {
    KnownKeys keys;
    read_data(embedded_hf_known_keys().front().text, "hf_known_keys.yaml",
              [&](const YamlNode& root, Problems& problems) {
                DataRow lists(root, problems);
                lists.read("harmless", keys.harmless);
                lists.read("harmless_words", keys.harmless_words);
                lists.read("state_space_prefixes", keys.state_space_prefixes);
                lists.read("linear_layers", keys.linear_layers);
                DataRow rules(lists.at("rules"), problems);
                for (const std::string_view word : hf_layer_rule_words()) {
                  rules.read(word, keys.rules.emplace_back());
                }
                rules.refuse_others();
                lists.refuse_others();
              });
    return keys;
  }();
  return read;
}

bool holds(const KnownKeys::List& list, std::string_view key) {
  return std::ranges::find(list, key) != list.end();
}

bool is_of_its_layers(std::string_view key, const JsonFields& config, const HfModelType& type) {
  const bool has_linear = type.linear_kind != LinearAttentionKind::kUnknown;
  if (has_linear && holds(known_keys().linear_layers, key)) return true;
  // Qwen 2's switch and count, which mean nothing beside no window.
  if ((key == "max_window_layers" || key == "use_sliding_window") &&
      config.says_none("sliding_window")) {
    return true;
  }
  return holds(known_keys().rules[static_cast<std::size_t>(type.rule)], key);
}

/// Keys that leave attention as it is in one type, or with one value.
bool is_harmless_here(std::string_view key, const JsonFields& config, const HfModelType& type) {
  const std::string_view name = type.model_type;
  // The bias of BLOOM is the usual one; its first program computed it for so many positions.
  if (key == "offset_alibi") return name == "bloom";
  // Phi 3: each layer is a full one, or has the window that is read.
  if (key == "full_attn_mod") return name == "phi3" && config.whole(key, 1, kMaxLayers) == 1;
  // Gemma 4's full layers make keys and values of one projection, by norms of their own.
  if (key == "attention_k_eq_v") return name == "gemma4_text";
  if (name != "cohere2") return false;
  // Command R7B, which says the same in sliding_window_pattern.
  if (key == "layer_switch") return config.whole(key, 1, kMaxLayers) == 4;
  if (key == "order_of_interleaved_layers") return config.word(key) == "local_attn_first";
  return key == "position_embedding_type" || key == "use_embedding_sharing" ||
         key == "use_parallel_block" || key == "use_parallel_embedding";
}

bool is_harmless(std::string_view key, const JsonFields& config, const HfModelType& type) {
  if (is_of_its_layers(key, config, type) || is_harmless_here(key, config, type)) return true;
  const auto is_in_key = [key](std::string_view word) {
    return key.find(word) != std::string_view::npos;
  };
  const auto begins_key = [key](std::string_view prefix) { return key.starts_with(prefix); };
  if (holds(known_keys().harmless, key)) return true;
  if (std::ranges::any_of(known_keys().harmless_words, is_in_key)) return true;
  // A window that the config switches off, or that its type takes only with the switch.
  if (key == "sliding_window") {
    return config.is_false("use_sliding_window") || type.rule == HfLayerRule::kWindowFrom ||
           type.rule == HfLayerRule::kWindowByFlag;
  }
  // Falcon's second generation states its KV heads instead.
  if (key == "multi_query") return type.kv_rule == HfKvRule::kFalcon;
  // Grok 2: every layer is a global one.
  if (key == "global_attn_every_n") return config.whole(key, 1, kMaxLayers) == 1;
  const bool has_state_space = type.linear_kind == LinearAttentionKind::kMamba ||
                               type.linear_kind == LinearAttentionKind::kMamba2;
  return has_state_space && std::ranges::any_of(known_keys().state_space_prefixes, begins_key);
}

}  // namespace

void refuse_unknown_keys(const JsonFields& config, const HfModelType& type,
                         std::span<const std::string> ignored) {
  for (const std::string& key : ignored) {
    if (!config.has(key)) {
      throw ConfigError(fmt::format("there is no key {} to ignore", shown(key)));
    }
  }
  std::vector<std::string> unknown;
  for (const std::string& key : config.unread_keys()) {
    if (config.says_none(key) || is_harmless(key, config, type)) continue;
    unknown.push_back(config.path_of(key));
  }
  if (unknown.empty()) return;
  constexpr std::size_t kMostShown = 8;
  const std::size_t shown_keys = std::min(unknown.size(), kMostShown);
  std::string list;
  for (std::size_t i = 0; i < shown_keys; ++i) list += (i > 0 ? ", " : "") + shown(unknown[i]);
  if (unknown.size() > shown_keys) list += fmt::format(" and {} more", unknown.size() - shown_keys);
  throw ConfigError(fmt::format(
      "attnbench does not know {}: the attention may depend on {}. If it does not, remove {} from "
      "the file, or name {} in a scenario, model: {{hf_config: …, ignore: […]}}",
      list, unknown.size() == 1 ? "it" : "them", unknown.size() == 1 ? "the key" : "the keys",
      unknown.size() == 1 ? "it" : "them"));
}

}  // namespace attnbench
