// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/layer_reader.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "lib/config/scenario_keys.h"
#include "lib/config/value_reader.h"
#include "lib/model/hf_config.h"
#include "lib/model/model_geometry.h"

namespace attnbench {
namespace {

constexpr const char* kModelForms =
    "a preset's name, {hf_config: path} or {heads_q: 32, heads_kv: 8, head_dim: 128}";

struct NamedGeometry {
  std::string name;
  ModelGeometry geometry;
};

/// Gives a place to a ConfigError that was thrown without one.
void add_placed(const ConfigError& error, const Place& place, Problems& problems) {
  const Diagnostic& mistake = error.diagnostics().front();
  problems.add(place, mistake.message, mistake.hint);
}

std::optional<NamedGeometry> read_preset(const YamlNode& node, Problems& problems) {
  if (const ModelGeometry* preset = find_model(node.text)) return NamedGeometry{node.text, *preset};
  const std::vector<std::string> names = model_names();
  problems.add(node.place, fmt::format("unknown model {}", describe(node)),
               allowed_words_hint(std::span<const std::string>(names), node.text, "presets: "));
  return std::nullopt;
}

std::optional<NamedGeometry> read_hf_config(const StrictMap& map, const YamlNode& node,
                                            Problems& problems) {
  const auto text = read_text(node, "hf_config", problems);
  if (!text) return std::nullopt;
  const YamlNode* ignore = map.find("ignore");
  if (map.node().entries.size() > (ignore == nullptr ? 1 : 2)) {
    problems.add(map.place_of("hf_config"), "hf_config beside other keys of a model",
                 "the config.json gives the whole model: leave the other keys out");
    return std::nullopt;
  }
  std::vector<std::string> ignored;
  if (ignore != nullptr) {
    if (!ignore->is_list()) {
      problems.add(ignore->place, fmt::format("ignore takes a list, found {}", describe(*ignore)),
                   "keys of the config.json, for example [qk_gain]");
      return std::nullopt;
    }
    for (const YamlPtr& item : ignore->items) {
      const auto key = read_text(*item, "ignore", problems);
      if (!key) return std::nullopt;
      ignored.push_back(*key);
    }
  }
  const std::filesystem::path folder = std::filesystem::path(problems.file()).parent_path();
  try {
    return NamedGeometry{*text, model_from_hf_config((folder / *text).string(), ignored)};
  } catch (const ConfigError& error) {
    add_placed(error, node.place, problems);
    return std::nullopt;
  }
}

/// YaRN of latent attention, in a config.json's words. `mscale` is of cos and sin, so queries and
/// keys already carry it; the softmax scale takes mscale_all_dim alone, which therefore is
/// required.
bool read_rope_scaling(const YamlNode& node, YarnScaling& yarn, Problems& problems) {
  const StrictMap map(node, "rope_scaling", "rope_scaling", problems);
  if (!map.sound()) return false;
  for (const char* key : {"type", "factor", "mscale_all_dim"}) {
    if (map.has(key)) continue;
    problems.add(node.place, fmt::format("rope_scaling has no {}", key),
                 "for example {type: yarn, factor: 40, mscale: 1, mscale_all_dim: 1}");
    return false;
  }
  constexpr std::string_view kTypes[] = {"yarn", "deepseek_yarn"};
  const auto type = read_choice(*map.find("type"), "type", kTypes, problems);
  const auto factor = read_factor(*map.find("factor"), "factor", problems);
  const auto all_dim = read_positive(*map.find("mscale_all_dim"), "mscale_all_dim", problems);
  const YamlNode* mscale = map.find("mscale");
  const bool mscale_valid =
      mscale == nullptr || read_positive(*mscale, "mscale", problems).has_value();
  if (factor && *factor < 1) {
    problems.add(map.place_of("factor"), "factor is below 1",
                 "it says how many times longer the context has become");
    return false;
  }
  constexpr double kMostAllDim = 100;  // as of a config.json; models have about 1
  if (all_dim && *all_dim > kMostAllDim) {
    problems.add(map.place_of("mscale_all_dim"),
                 fmt::format("mscale_all_dim is more than {}", kMostAllDim),
                 "the softmax scale is multiplied by (0.1 * mscale_all_dim * ln factor + 1)^2");
    return false;
  }
  if (!type || !factor || !all_dim || !mscale_valid) return false;
  yarn = {.factor = *factor, .mscale_all_dim = *all_dim};
  return true;
}

/// A model whose only layer is a gated delta net: these four keys and no others.
std::optional<NamedGeometry> read_inline_delta_net(const StrictMap& map, Problems& problems) {
  NamedGeometry model{kInlineModel, {}};
  ModelGeometry& g = model.geometry;
  g.name = model.name;
  g.layers = 1;
  g.kinds = LayerCounts(LayerKind::kLinear, 1);
  g.linear_sort = LinearSort::kGatedDeltaNet;
  constexpr const char* kNeeds =
      "a gated delta net needs linear_num_key_heads, linear_num_value_heads, linear_key_head_dim "
      "and linear_value_head_dim";
  std::size_t known = 0;
  for (const auto& [key, field] : {std::pair{"linear_num_key_heads", &g.linear_num_key_heads},
                                   {"linear_num_value_heads", &g.linear_num_value_heads},
                                   {"linear_key_head_dim", &g.linear_key_head_dim},
                                   {"linear_value_head_dim", &g.linear_value_head_dim}}) {
    const YamlNode* node = map.find(key);
    if (node == nullptr) {
      problems.add(map.node().place, fmt::format("model has no {}", key), kNeeds);
      return std::nullopt;
    }
    const auto value = read_size(*node, key, 1, kMaxHeadDim, problems);
    if (!value) return std::nullopt;
    *field = static_cast<int>(*value);
    ++known;
  }
  if (map.node().entries.size() == known) return model;
  for (const YamlEntry& entry : map.node().entries) {
    if (entry.key.starts_with("linear_")) continue;
    problems.add(entry.value->place, fmt::format("{} beside linear_num_key_heads", entry.key),
                 kNeeds);
    break;
  }
  return std::nullopt;
}

std::optional<NamedGeometry> read_inline(const StrictMap& map, Problems& problems) {
  if (!map.sound()) return std::nullopt;
  for (const YamlEntry& entry : map.node().entries) {
    if (entry.key.starts_with("linear_")) return read_inline_delta_net(map, problems);
  }
  NamedGeometry model;
  model.name = kInlineModel;
  ModelGeometry& g = model.geometry;
  g.name = model.name;
  const std::pair<const char*, int*> fields[] = {{"heads_q", &g.heads_q},
                                                 {"heads_kv", &g.heads_kv},
                                                 {"head_dim", &g.head_dim},
                                                 {"head_dim_v", &g.head_dim_v},
                                                 {"kv_lora_rank", &g.kv_lora_rank},
                                                 {"qk_nope_head_dim", &g.qk_nope_head_dim},
                                                 {"qk_rope_head_dim", &g.qk_rope_head_dim}};
  g.layers = 1;
  g.kinds = LayerCounts(LayerKind::kFull, 1);
  bool valid = true;
  for (const auto& [key, field] : fields) {
    const YamlNode* node = map.find(key);
    if (node == nullptr) continue;
    const auto value = read_size(*node, key, 1, kMaxHeadDim, problems);
    valid = valid && value;
    *field = static_cast<int>(value.value_or(0));
  }
  const bool mla = map.has("kv_lora_rank");
  const auto needed =
      mla ? std::vector<const char*>{"heads_q", "qk_nope_head_dim", "qk_rope_head_dim"}
          : std::vector<const char*>{"heads_q", "heads_kv", "head_dim"};
  for (const char* key : needed) {
    if (map.has(key)) continue;
    problems.add(
        map.node().place, fmt::format("model has no {}", key),
        mla ? "multi-head latent attention needs heads_q, kv_lora_rank, qk_nope_head_dim and "
              "qk_rope_head_dim"
            : kModelForms);
    return std::nullopt;
  }
  for (const char* key : {"qk_nope_head_dim", "qk_rope_head_dim", "rope_scaling"}) {
    if (mla || !map.has(key)) continue;
    problems.add(map.place_of(key), fmt::format("{} without kv_lora_rank", key),
                 std::string_view(key) == "rope_scaling"
                     ? "with plain heads queries and keys carry YaRN's factor already; "
                       "`attention: {scale: …}` sets any other scale"
                     : "these keys describe multi-head latent attention together");
    return std::nullopt;
  }
  for (const char* key : {"heads_kv", "head_dim"}) {
    if (!mla || !map.has(key)) continue;
    problems.add(map.place_of(key), fmt::format("{} beside kv_lora_rank", key),
                 "latent attention has one KV row of kv_lora_rank + qk_rope_head_dim");
    return std::nullopt;
  }
  if (const YamlNode* rope = map.find("rope_scaling")) {
    valid = read_rope_scaling(*rope, g.yarn, problems) && valid;
  }
  return valid ? std::optional(model) : std::nullopt;
}

/// A geometry without a model is one of a layer, which may be one over an encoder's keys.
void take_kind_of_mix(const StrictMap& mix, NamedGeometry& model) {
  ModelGeometry& g = model.geometry;
  const YamlNode* layer = mix.find("layer");
  const bool asked = layer != nullptr && layer->text == to_string(LayerKind::kCross);
  if (!asked || model.name != kInlineModel || g.is_mla() || g.has_delta_net()) return;
  g.kinds = LayerCounts(LayerKind::kCross, 1);
}

/// The kind of layer to run; nullopt after a mistake.
std::optional<LayerKind> read_kind(const StrictMap& mix, const YamlNode& model_node,
                                   const ModelGeometry& model, Problems& problems) {
  const YamlNode* node = mix.find("layer");
  std::optional<LayerKind> asked;
  if (node != nullptr) {
    const auto word = read_choice(*node, "layer", kLayerKindWords, problems);
    if (!word) return std::nullopt;
    asked = kLayerKinds[*word];
  }
  try {
    return kind_to_run(model, asked);
  } catch (const ConfigError& error) {
    add_placed(error, node != nullptr ? node->place : model_node.place, problems);
    return std::nullopt;
  }
}

/// The form of latent attention; nullopt after a mistake.
std::optional<MlaForm> read_mla_form(const StrictMap& mix, const NamedGeometry& model,
                                     Problems& problems) {
  const YamlNode* node = mix.find("mla");
  if (node == nullptr) return MlaForm::kAbsorbed;
  constexpr std::string_view kMlaForms[] = {"absorbed", "expanded", "composed"};
  constexpr MlaForm kFormOf[] = {MlaForm::kAbsorbed, MlaForm::kExpanded, MlaForm::kComposed};
  const auto choice = read_choice(*node, "mla", kMlaForms, problems);
  if (!choice) return std::nullopt;
  if (!model.geometry.is_mla()) {
    problems.add(node->place, fmt::format("mla: {} of model {}", kMlaForms[*choice], model.name),
                 "it has keys and values of its own, no latent rows: leave mla out, also in "
                 "defaults");
    return std::nullopt;
  }
  return kFormOf[*choice];
}

/// What `attention` says of latent attention, which holds for both of its forms.
void give_mask(const AttentionLayer& absorbed, AttentionLayer& expanded) {
  expanded.causal = absorbed.causal;
  expanded.sliding_window_size = absorbed.sliding_window_size;
  expanded.window_in_trees = absorbed.window_in_trees;
  expanded.logit_cap = absorbed.logit_cap;
  expanded.scale = absorbed.scale;
}

std::optional<NamedGeometry> read_model(const YamlNode& node, Problems& problems) {
  if (node.is_scalar()) return read_preset(node, problems);
  if (!node.is_map()) {
    problems.add(node.place, fmt::format("model takes a name or a map, found {}", describe(node)),
                 kModelForms);
    return std::nullopt;
  }
  const StrictMap map(node, "model", "model", problems);
  if (const YamlNode* config = map.find("hf_config")) return read_hf_config(map, *config, problems);
  return read_inline(map, problems);
}

}  // namespace

std::optional<ModelGeometry> read_geometry(const YamlNode& mix, Problems& problems) {
  const YamlEntry* const node = mix.find("model");
  if (node == nullptr) return std::nullopt;
  const auto model = read_model(*node->value, problems);
  return model ? std::optional(model->geometry) : std::nullopt;
}

std::optional<LayerChoice> read_layer(const StrictMap& mix, const std::string& mix_name,
                                      const Place& mix_place, Problems& problems) {
  constexpr std::int64_t kMaxTp = 1024;
  std::optional<std::int64_t> tp = 1;
  const YamlNode* tp_node = mix.find("tp");
  if (tp_node != nullptr) tp = read_size(*tp_node, "tp", 1, kMaxTp, problems);
  const YamlNode* model_node = mix.find("model");
  if (model_node == nullptr) {
    if (!mix.sound()) return std::nullopt;
    problems.add(mix_place, fmt::format("mix '{}' has no model", mix_name),
                 fmt::format("give one here or in defaults: {}", kModelForms));
    return std::nullopt;
  }
  auto model = read_model(*model_node, problems);
  if (model) take_kind_of_mix(mix, *model);
  LayerChoice choice;
  bool valid = model && tp;
  const auto kind = model ? read_kind(mix, *model_node, model->geometry, problems) : std::nullopt;
  const auto mla = model ? read_mla_form(mix, *model, problems) : std::nullopt;
  valid = valid && kind && mla;
  if (valid) {
    choice.model = model->name;
    choice.geometry = model->geometry;
    choice.kind = *kind;
    choice.note = notes_on(model->geometry, *kind);
    choice.tp = static_cast<int>(*tp);
    choice.mla = *mla;
    if (choice.mla != MlaForm::kAbsorbed) {
      choice.note += fmt::format(
          "{}{}: the up-projection of latent rows is not part of it",
          choice.note.empty() ? "" : "; ",
          choice.mla == MlaForm::kExpanded ? "expanded" : "prompts expanded, decodes absorbed");
    }
    try {
      choice.layer = layer_of(model->geometry, *kind, choice.tp, choice.mla);
      if (choice.mla == MlaForm::kComposed) {
        choice.expanded = layer_of(model->geometry, *kind, choice.tp, MlaForm::kExpanded);
      }
    } catch (const ConfigError& error) {
      const bool about_tp = tp_node != nullptr && *tp > 1;
      add_placed(error, about_tp ? tp_node->place : model_node->place, problems);
      valid = false;
    }
  }
  // Without a layer the attention keys are still checked, against a plain one.
  if (const YamlNode* attention = mix.find("attention")) {
    valid = read_attention(*attention, choice.layer, problems) && valid;
  }
  give_mask(choice.layer, choice.expanded);
  return valid ? std::optional(choice) : std::nullopt;
}

}  // namespace attnbench
