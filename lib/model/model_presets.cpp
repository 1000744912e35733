// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

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
  if (text != "verified" && text != "from memory") {
    throw YAML::Exception(value.Mark(), "status is 'verified' or 'from memory'");
  }
  model.verified = text == "verified";
}

void read_key(const std::string& key, const YAML::Node& value, ModelGeometry& m) {
  if (key == "layers") return read(value, m.layers);
  if (key == "heads_q") return read(value, m.heads_q);
  if (key == "heads_kv") return read(value, m.heads_kv);
  if (key == "head_dim") return read(value, m.head_dim);
  if (key == "head_dim_v") return read(value, m.head_dim_v);
  if (key == "query_pre_attn_scalar") return read(value, m.query_pre_attn_scalar);
  if (key == "softcap") return read(value, m.softcap);
  if (key == "sliding_window") return read(value, m.sliding_window);
  if (key == "window_layers") return read(value, m.window_layers);
  if (key == "attention_chunk") return read(value, m.attention_chunk);
  if (key == "sinks") return read(value, m.sinks);
  if (key == "kv_lora_rank") return read(value, m.kv_lora_rank);
  if (key == "qk_nope_head_dim") return read(value, m.qk_nope_head_dim);
  if (key == "qk_rope_head_dim") return read(value, m.qk_rope_head_dim);
  if (key == "status") return read_status(value, m);
  if (key == "notes") return read(value, m.notes);
  throw YAML::Exception(value.Mark(), "unknown key '" + key + "'");
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
  const bool complete =
      model.heads_q > 0 && (model.is_mla() || (model.heads_kv > 0 && model.head_dim > 0));
  if (!complete) throw ConfigError(fmt::format("model preset {}: heads or dims are missing", name));
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
