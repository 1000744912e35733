// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <span>

#include "lib/base/embedded_file.h"
#include "lib/base/error.h"
#include "lib/model/model_geometry.h"

namespace attnbench {

/// scenarios/models/*.yaml, compiled in.
std::span<const EmbeddedFile> embedded_models();

namespace {

using Presets = std::map<std::string, ModelGeometry, std::less<>>;

const Presets& presets() {
  static const Presets parsed = [] {
    Presets models;
    for (const EmbeddedFile& file : embedded_models()) {
      std::string name(file.stem);
      models.emplace(name, parse_model(file.text, name));
    }
    return models;
  }();
  return parsed;
}

template <class Value>
void read(const YAML::Node& value, Value& field) {
  field = value.as<Value>();
}

void read_status(const YAML::Node& value, ModelGeometry& model) {
  const auto text = value.as<std::string>();
  if (text != "verified" && text != "not checked") {
    throw YAML::Exception(value.Mark(), "status is 'verified' or 'not checked'");
  }
  model.verified = text == "verified";
}

void read_kinds(const YAML::Node& value, LayerCounts& kinds) {
  for (const auto& entry : value) {
    const auto word = entry.first.as<std::string>();
    const auto* found = std::ranges::find(kLayerKindWords, word);
    if (found == kLayerKindWords.end()) {
      throw YAML::Exception(entry.first.Mark(), "unknown kind of layer '" + word + "'");
    }
    kinds[kLayerKinds[static_cast<std::size_t>(found - kLayerKindWords.begin())]] =
        entry.second.as<int>();
  }
}

void read_rope_scaling(const YAML::Node& value, YarnScaling& yarn) {
  for (const auto& entry : value) {
    const auto key = entry.first.as<std::string>();
    if (key == "factor") {
      read(entry.second, yarn.factor);
    } else if (key == "mscale_all_dim") {
      read(entry.second, yarn.mscale_all_dim);
    } else if (key != "type" || entry.second.as<std::string>() != "yarn") {
      throw YAML::Exception(entry.first.Mark(),
                            "rope_scaling is {type: yarn, factor: …, mscale_all_dim: …}");
    }
  }
}

void read_linear_sort(const YAML::Node& value, LinearSort& sort) {
  const auto word = value.as<std::string>();
  if (word == "gated_delta_net") {
    sort = LinearSort::kGatedDeltaNet;
  } else if (word == "kimi_delta") {
    sort = LinearSort::kKimiDelta;
  } else if (word == "lightning") {
    sort = LinearSort::kLightning;
  } else {
    throw YAML::Exception(value.Mark(),
                          "linear_attention is gated_delta_net, kimi_delta or lightning");
  }
}

void read_key(const std::string& key, const YAML::Node& value, ModelGeometry& m) {
  if (key == "layers") return read(value, m.layers);
  if (key == "layer_kinds") return read_kinds(value, m.kinds);
  if (key == "heads_q") return read(value, m.heads_q);
  if (key == "heads_kv") return read(value, m.heads_kv);
  if (key == "head_dim") return read(value, m.head_dim);
  if (key == "head_dim_v") return read(value, m.head_dim_v);
  if (key == "query_pre_attn_scalar") return read(value, m.query_pre_attn_scalar);
  if (key == "softcap") return read(value, m.softcap);
  if (key == "sliding_window") return read(value, m.sliding_window);
  if (key == "attention_chunk") return read(value, m.attention_chunk);
  if (key == "sinks") return read(value, m.sinks);
  if (key == "encoder_len") return read(value, m.encoder_len);
  if (key == "kv_lora_rank") return read(value, m.kv_lora_rank);
  if (key == "qk_nope_head_dim") return read(value, m.qk_nope_head_dim);
  if (key == "qk_rope_head_dim") return read(value, m.qk_rope_head_dim);
  if (key == "linear_num_key_heads") return read(value, m.linear_num_key_heads);
  if (key == "linear_num_value_heads") return read(value, m.linear_num_value_heads);
  if (key == "linear_key_head_dim") return read(value, m.linear_key_head_dim);
  if (key == "linear_value_head_dim") return read(value, m.linear_value_head_dim);
  if (key == "linear_conv_kernel_dim") return read(value, m.linear_conv_kernel_dim);
  if (key == "linear_attention") return read_linear_sort(value, m.linear_sort);
  if (key == "rope_scaling") return read_rope_scaling(value, m.yarn);
  if (key == "status") return read_status(value, m);
  if (key == "notes") return read(value, m.notes);
  throw YAML::Exception(value.Mark(), "unknown key '" + key + "'");
}

/// What is missing or does not fit together; empty when the geometry is whole.
std::string flaw_of(const ModelGeometry& m) {
  const bool dims = m.is_mla() ? m.qk_nope_head_dim > 0 && m.qk_rope_head_dim > 0
                               : m.heads_kv > 0 && m.head_dim > 0;
  if (m.heads_q <= 0 || !dims) return "heads or dims are missing";
  if (m.kinds.total() != m.layers) return "layer_kinds do not add up to layers";
  if ((m.kinds[LayerKind::kSliding] > 0) != (m.sliding_window > 0)) {
    return "sliding layers and sliding_window belong together";
  }
  if ((m.kinds[LayerKind::kChunked] > 0) != (m.attention_chunk > 0)) {
    return "chunked layers and attention_chunk belong together";
  }
  if (m.encoder_len < 0 || (m.encoder_len > 0 && m.kinds[LayerKind::kCross] == 0)) {
    return "encoder_len is of cross layers";
  }
  const bool all = m.linear_num_key_heads > 0 && m.linear_num_value_heads > 0 &&
                   m.linear_key_head_dim > 0 && m.linear_value_head_dim > 0;
  const bool any = m.linear_num_key_heads > 0 || m.linear_num_value_heads > 0 ||
                   m.linear_key_head_dim > 0 || m.linear_value_head_dim > 0;
  if (any && (!all || m.kinds[LayerKind::kLinear] == 0)) {
    return "linear layers, their heads and their dims belong together";
  }
  if (any && m.linear_sort != LinearSort::kGatedDeltaNet) {
    return "these heads and dims of linear layers are those of gated delta nets";
  }
  if ((m.kinds[LayerKind::kLinear] > 0) != (m.linear_sort != LinearSort::kUnknown)) {
    return "linear layers and linear_attention belong together";
  }
  return "";
}

}  // namespace

ModelGeometry parse_model(std::string_view text, const std::string& name) {
  ModelGeometry model;
  model.name = name;
  try {
    for (const auto& entry : YAML::Load(std::string(text))) {
      read_key(entry.first.as<std::string>(), entry.second, model);
    }
  } catch (const YAML::Exception& error) {
    throw ConfigError(fmt::format("model preset {}: {}", name, error.what()));
  }
  if (model.kinds.total() == 0) model.kinds = LayerCounts(LayerKind::kFull, model.layers);
  if (const std::string flaw = flaw_of(model); !flaw.empty()) {
    throw ConfigError(fmt::format("model preset {}: {}", name, flaw));
  }
  return model;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& entry : presets()) names.push_back(entry.first);
  return names;
}

const ModelGeometry* find_model(std::string_view name) {
  const auto found = presets().find(name);
  return found == presets().end() ? nullptr : &found->second;
}

}  // namespace attnbench
