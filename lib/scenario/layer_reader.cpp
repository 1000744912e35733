// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/layer_reader.h"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "lib/config/key_values.h"
#include "lib/config/value_reader.h"
#include "lib/config/word_hints.h"
#include "lib/model/hf_config.h"
#include "lib/model/model_geometry.h"
#include "lib/scenario/language.h"

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

/// Names one of two kinds of YaRN that are the same here.
bool read_yarn_type(const YamlNode& node, YarnScaling& /*yarn*/, Problems& problems) {
  constexpr std::string_view kTypes[] = {"yarn", "deepseek_yarn"};
  return read_choice(node, "type", kTypes, problems).has_value();
}

bool read_mscale(const YamlNode& node, YarnScaling& /*yarn*/, Problems& problems) {
  return read_positive(node, "mscale", problems).has_value();
}

/// YaRN of latent attention, in a config.json's words. `mscale` is of cos and sin, so queries and
/// keys already carry it; the softmax scale takes mscale_all_dim alone, which therefore is
/// required.
bool read_rope_scaling(const YamlNode& node, ModelGeometry& model, Problems& problems) {
  const ScenarioMap map(node, "rope_scaling", "rope_scaling", problems);
  const auto read = read_whole<YarnScaling>(map, problems);
  if (read && read->factor < 1) {
    problems.add(map.place_of("factor"), "factor is below 1",
                 "it says how many times longer the context has become");
    return false;
  }
  constexpr double kMostAllDim = 100;  // as of a config.json; models have about 1
  if (read && read->mscale_all_dim > kMostAllDim) {
    problems.add(map.place_of("mscale_all_dim"),
                 fmt::format("mscale_all_dim is more than {}", kMostAllDim),
                 "the softmax scale is multiplied by (0.1 * mscale_all_dim * ln factor + 1)^2");
    return false;
  }
  if (read) model.yarn = *read;
  return read.has_value();
}

/// The kinds of linear layers that can be run.
constexpr std::array kLinearKinds = {LinearAttentionKind::kGatedDeltaNet,
                                     LinearAttentionKind::kKimiDelta,
                                     LinearAttentionKind::kLightning, LinearAttentionKind::kMamba2};
constexpr std::array<std::string_view, 4> kLinearWords = {"gated_delta_net", "kimi_delta",
                                                          "lightning", "mamba2"};

bool read_linear_attention(const YamlNode& node, ModelGeometry& model, Problems& problems) {
  const auto choice = read_choice(node, "linear_attention", kLinearWords, problems);
  if (choice) model.linear_kind = kLinearKinds[*choice];
  return choice.has_value();
}

/// A model whose only layer is linear: four keys, and which kind it is.
std::optional<NamedGeometry> read_inline_delta_net(const StrictMap& map, Problems& problems) {
  NamedGeometry model{kInlineModel, {}};
  ModelGeometry& g = model.geometry;
  g.name = model.name;
  g.layers = 1;
  g.kinds = LayerCounts(LayerKind::kLinear, 1);
  g.linear_kind = LinearAttentionKind::kGatedDeltaNet;  // unless linear_attention says otherwise
  constexpr const char* kNeeds =
      "a linear layer needs linear_num_key_heads, linear_num_value_heads, linear_key_head_dim "
      "and linear_value_head_dim";
  constexpr const char* kKeys[] = {"linear_num_key_heads", "linear_num_value_heads",
                                   "linear_key_head_dim", "linear_value_head_dim"};
  for (const char* key : kKeys) {
    if (map.has(key)) continue;
    problems.add(map.node().place, fmt::format("model has no {}", key), kNeeds);
    return std::nullopt;
  }
  if (!read_rows(map, g, problems)) return std::nullopt;
  for (const YamlEntry& entry : map.node().entries) {
    if (entry.key.starts_with("linear_")) continue;
    problems.add(entry.value->place, fmt::format("{} beside linear_num_key_heads", entry.key),
                 kNeeds);
    return std::nullopt;
  }
  return model;
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
  g.layers = 1;
  g.kinds = LayerCounts(LayerKind::kFull, 1);
  const bool valid = read_rows(map, g, problems);
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
  if (valid && mla && g.qk_rope_head_dim == 0 && g.kv_lora_rank < 2) {
    problems.add(map.place_of("kv_lora_rank"), "kv_lora_rank 1 without rope columns",
                 "a row that is all K and V has 2 dims and more");
    return std::nullopt;
  }
  for (const char* key : {"heads_kv", "head_dim"}) {
    if (!mla || !map.has(key)) continue;
    problems.add(map.place_of(key), fmt::format("{} beside kv_lora_rank", key),
                 "latent attention has one KV row of kv_lora_rank + qk_rope_head_dim");
    return std::nullopt;
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

/// Latent attention has forms, other attention has none.
bool check_mla_form(const StrictMap& mix, MlaForm form, const NamedGeometry& model,
                    Problems& problems) {
  const YamlNode* node = mix.find("mla");
  if (node == nullptr || model.geometry.is_mla()) return true;
  problems.add(node->place, fmt::format("mla: {} of model {}", to_string(form), model.name),
               "it has keys and values of its own, no latent rows: leave mla out, also in "
               "defaults");
  return false;
}

/// What `attention` says of latent attention, which holds for both of its forms.
void give_mask(const AttentionLayer& absorbed, AttentionLayer& expanded) {
  expanded.causal = absorbed.causal;
  expanded.sliding_window_size = absorbed.sliding_window_size;
  expanded.window_in_trees = absorbed.window_in_trees;
  expanded.logit_cap = absorbed.logit_cap;
  expanded.has_sinks = absorbed.has_sinks;
  expanded.scale = absorbed.scale;
}

std::optional<NamedGeometry> read_model(const YamlNode& node, Problems& problems) {
  if (node.is_scalar()) return read_preset(node, problems);
  if (!node.is_map()) {
    problems.add(node.place, fmt::format("model takes a name or a map, found {}", describe(node)),
                 kModelForms);
    return std::nullopt;
  }
  const ScenarioMap map(node, "model", "model", problems);
  if (const YamlNode* config = map.find("hf_config")) return read_hf_config(map, *config, problems);
  return read_inline(map, problems);
}

}  // namespace

KeySection model_section() {
  const auto dim = [](int ModelGeometry::*member) { return whole(member, 1, kMaxHeadDim); };
  using M = ModelGeometry;
  return {
      "model",
      "model",
      "mixes.NAME.model",
      {{"hf_config", by_section("a path"),
        "A Hugging Face `config.json`, from the scenario's folder. Only `ignore` may stand "
        "beside it."},
       {"ignore", by_section("a list of words"),
        "Keys of the `config.json` that are unknown and do not change the attention."},
       {"heads_q", dim(&M::heads_q), "Query heads of the whole model.", "", true},
       {"heads_kv", dim(&M::heads_kv), "KV heads, which divide heads_q.", "required without MLA"},
       {"head_dim", dim(&M::head_dim), "Of Q and K.", "required without MLA"},
       {"head_dim_v", dim(&M::head_dim_v), "Of V and O; of MLA's expanded form, which needs it.",
        "head_dim"},
       {"kv_lora_rank", dim(&M::kv_lora_rank), "MLA: width of the latent, which is V too.", "none"},
       {"qk_nope_head_dim", dim(&M::qk_nope_head_dim), "MLA: sets the scale, 1/sqrt(nope + rope).",
        "required for MLA"},
       {"qk_rope_head_dim", whole(&M::qk_rope_head_dim, 0, kMaxHeadDim),
        "MLA: columns of the cached row behind the latent; 0: all of a row is K and V.",
        "required for MLA"},
       {"rope_scaling", by_hand(read_rope_scaling, "a map", "", "rope_scaling"),
        "MLA: YaRN, which multiplies the scale.", "none"},
       {"linear_attention",
        by_hand(read_linear_attention, list_of_words(kLinearWords), "`gated_delta_net`"),
        "What a linear layer computes, which this key and the next four describe."},
       {"linear_num_key_heads", dim(&M::linear_num_key_heads),
        "Of a linear layer: heads of Q and K.", "none"},
       {"linear_num_value_heads", dim(&M::linear_num_value_heads),
        "Heads of V, of the state and of O; a multiple of the key heads.", "none"},
       {"linear_key_head_dim", dim(&M::linear_key_head_dim),
        "Of Q and K; the scale is 1/sqrt of it.", "none"},
       {"linear_value_head_dim", dim(&M::linear_value_head_dim), "Of V and O.", "none"}}};
}

KeySection rope_scaling_section() {
  return {"rope_scaling",
          "rope_scaling",
          "mixes.NAME.model.rope_scaling",
          {{"type", by_hand(read_yarn_type, "`yarn` `deepseek_yarn`"), "The two are the same here.",
            "", true},
           {"factor", factor(&YarnScaling::factor), "How many times longer the context is, from 1.",
            "", true},
           {"mscale", by_hand(read_mscale, "a number above 0"),
            "Of cos and sin, without effect here: a line of a config can be copied.", "none"},
           {"mscale_all_dim", positive(&YarnScaling::mscale_all_dim),
            "What reaches the scale, up to 100.", "", true}},
          "for example {type: yarn, factor: 40, mscale: 1, mscale_all_dim: 1}"};
}

std::string_view to_string(MlaForm form) {
  constexpr std::string_view kWords[] = {"absorbed", "expanded", "composed"};
  return kWords[static_cast<std::size_t>(form)];
}

std::optional<ModelGeometry> read_geometry(const YamlNode& mix, Problems& problems) {
  const YamlEntry* const node = mix.find("model");
  if (node == nullptr) return std::nullopt;
  const auto model = read_model(*node->value, problems);
  return model ? std::optional(model->geometry) : std::nullopt;
}

std::optional<LayerChoice> read_layer(const StrictMap& mix, const std::string& mix_name,
                                      const Place& mix_place, Problems& problems) {
  LayerChoice choice;
  bool valid = read_rows(mix, choice, problems);
  const YamlNode* model_node = mix.find("model");
  if (model_node == nullptr) {
    if (!mix.sound()) return std::nullopt;
    problems.add(mix_place, fmt::format("mix '{}' has no model", mix_name),
                 fmt::format("give one here or in defaults: {}", kModelForms));
    return std::nullopt;
  }
  auto model = read_model(*model_node, problems);
  if (model) take_kind_of_mix(mix, *model);
  const auto kind = model ? read_kind(mix, *model_node, model->geometry, problems) : std::nullopt;
  valid = valid && kind && check_mla_form(mix, choice.mla, *model, problems);
  if (valid) {
    choice.model = model->name;
    choice.geometry = model->geometry;
    choice.kind = *kind;
    choice.note = notes_on(model->geometry, *kind);
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
      const YamlNode* where = choice.tp > 1 ? mix.find("tp") : model_node;
      add_placed(error, where->place, problems);
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
