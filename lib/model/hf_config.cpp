// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "lib/base/error.h"
#include "lib/model/model_geometry.h"

namespace attnbench {
namespace {

using Json = nlohmann::json;

/// A number under `key`, or `fallback` when it is absent or null.
template <class Number>
Number number_or(const Json& config, const char* key, Number fallback) {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return fallback;
  return found->get<Number>();
}

int need(const Json& config, const char* key) {
  const int value = number_or(config, key, 0);
  if (value <= 0) throw ConfigError(fmt::format("the field {} is missing", key));
  return value;
}

/// "all" when no layer attends in full; otherwise which layers slide, as the config words it.
std::string window_layers(const Json& config) {
  if (config.contains("layer_types")) {
    std::size_t sliding = 0;
    for (const Json& type : config["layer_types"]) sliding += type == "sliding_attention" ? 1u : 0u;
    const std::size_t layers = config["layer_types"].size();
    return sliding == layers ? "all" : fmt::format("{} of {} layers", sliding, layers);
  }
  if (const int pattern = number_or(config, "sliding_window_pattern", 0); pattern > 1) {
    return fmt::format("all but every {}th", pattern);
  }
  return config.value("model_type", "") == "gemma2" ? "every other layer" : "all";
}

ModelGeometry geometry_of(const Json& config) {
  ModelGeometry model;
  model.layers = number_or(config, "num_hidden_layers", 0);
  model.heads_q = need(config, "num_attention_heads");
  model.kv_lora_rank = number_or(config, "kv_lora_rank", 0);
  if (model.is_mla()) {
    model.qk_nope_head_dim = need(config, "qk_nope_head_dim");
    model.qk_rope_head_dim = need(config, "qk_rope_head_dim");
    return model;
  }
  model.heads_kv = number_or(config, "num_key_value_heads", model.heads_q);
  model.head_dim = number_or(config, "head_dim", 0);
  if (model.head_dim == 0) model.head_dim = need(config, "hidden_size") / model.heads_q;
  model.query_pre_attn_scalar = number_or(config, "query_pre_attn_scalar", 0.0);
  model.softcap = number_or(config, "attn_logit_softcapping", 0.0);
  model.attention_chunk = number_or<std::int64_t>(config, "attention_chunk_size", 0);
  model.sinks = config.value("model_type", "") == "gpt_oss";  // the config has no field for them
  // Qwen writes a window and switches it off beside it.
  const auto used = config.find("use_sliding_window");
  if (used == config.end() || *used != false) {
    model.sliding_window = number_or<std::int64_t>(config, "sliding_window", 0);
    if (model.sliding_window > 0) model.window_layers = window_layers(config);
  }
  return model;
}

}  // namespace

ModelGeometry model_from_hf_config(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw ConfigError(fmt::format("cannot read {}", path));
  try {
    const Json config = Json::parse(file);
    // Multimodal models keep the language model's fields in a part of their own.
    ModelGeometry model =
        geometry_of(config.contains("text_config") ? config["text_config"] : config);
    model.name = path;
    return model;
  } catch (const Json::exception& error) {
    throw ConfigError(fmt::format("{} is no model config: {}", path, error.what()));
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: {}", path, error.diagnostics().front().message));
  }
}

}  // namespace attnbench
