// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/dtype.h"
#include "lib/batch/fp8_activations.h"
#include "lib/config/problems.h"
#include "lib/config/strict_map.h"
#include "lib/config/yaml_tree.h"
#include "lib/model/attention_layer.h"
#include "lib/model/model_geometry.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// The name of a geometry that a scenario writes out: one of a layer, of a model with any number of
/// them.
inline constexpr const char* kInlineModel = "inline";

inline constexpr MlaForm kMlaForms[] = {MlaForm::kAbsorbed, MlaForm::kExpanded, MlaForm::kComposed};
[[nodiscard]] std::string_view to_string(MlaForm form);

/// A model's layer on one rank, with the name that records carry.
struct LayerChoice {
  std::string model;  ///< preset, path of a config.json, or kInlineModel
  std::string note;   ///< what the name leaves unsaid; empty when nothing
  ModelGeometry geometry;
  LayerKind kind = LayerKind::kFull;
  int tp = 1;
  MlaForm mla = MlaForm::kAbsorbed;
  AttentionLayer layer;     ///< composed: the absorbed one
  AttentionLayer expanded;  ///< of the prompts of a composed step; unused otherwise
};

/// Reads `model`, `layer`, `mla`, `tp` and `attention` of a mix, whose name stands at `mix_place`.
/// A relative hf_config starts at the scenario file.
[[nodiscard]] std::optional<LayerChoice> read_layer(const StrictMap& mix,
                                                    const std::string& mix_name,
                                                    const Place& mix_place, Problems& problems);

/// The geometry of the mix's model; none after a mistake, and where the mix has no model.
[[nodiscard]] std::optional<ModelGeometry> read_geometry(const YamlNode& mix, Problems& problems);

/// Applies the keys of an `attention` map to `layer`; false after a mistake.
[[nodiscard]] bool read_attention(const YamlNode& node, AttentionLayer& layer, Problems& problems);

/// Reads a `selection`. A sparse layer of a model has one, of which a scenario may say only what it
/// changes. False after a mistake.
[[nodiscard]] bool read_selection(const YamlNode& node, AttentionLayer& layer, Problems& problems);

/// Reads `dtype`: of activations, so never fp8.
[[nodiscard]] std::optional<DType> read_activation_dtype(const StrictMap& mix, Problems& problems);

/// Reads `kv_cache`, which may be null; the cache's dtype defaults to the activations'. Keys of an
/// expanded MLA are ragged unless it names a layout, or what only a pool has.
[[nodiscard]] std::optional<KvCacheConfig> read_kv_cache(const YamlNode* node, DType activations,
                                                         KvScales ds_mla,
                                                         const AttentionLayer& layer, MlaForm mla,
                                                         Problems& problems);

/// What a mix says of activations in fp8.
struct Fp8Settings {
  Fp8Activations types;
  float q_scale = 1, out_scale = 1;
};

/// Reads q_dtype, q_scale, q_scales, out_dtype and out_scale of an `attention` map, which may be
/// null, and whose keys are known to be sound; none after a mistake. `activations` are the others'
/// type.
[[nodiscard]] std::optional<Fp8Settings> read_fp8(const YamlNode* attention, DType activations,
                                                  Problems& problems);

/// A mix of one kind of its model's layers, with `layer` in the place of `layers`.
struct MixOfLayers {
  YamlPtr mix;
  ModelLayers layers;  ///< of no kind: the mix has no `layers`
  std::string note;    ///< what is left out, and the model's own notes; empty when nothing
};

/// The mixes that a mix with `layers` stands for: `all` that attnbench can run, or those of a map
/// of kinds with their numbers of layers. The mix itself where it has no `layers`. Linear layers
/// have neither the `kv_cache` nor the `attention` of the others, and cross layers alone have the
/// batch's `encoder_len`. Empty after a mistake.
[[nodiscard]] std::vector<MixOfLayers> mixes_of_layers(const YamlPtr& mix, Problems& problems);

/// "chat/full" and "chat/ps16,full": the id of one kind's case; `id` itself where there is no kind.
[[nodiscard]] std::string case_id_of_layers(const std::string& id, std::string_view kind);

/// The id of the step that such a case is a part of: "chat", "chat/ps16". Of any other case its
/// own.
[[nodiscard]] std::string step_id_of(const std::string& case_id, std::string_view kind);

}  // namespace attnbench
