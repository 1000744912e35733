// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/dtype.h"
#include "lib/batch/fp8_activations.h"
#include "lib/config/problems.h"
#include "lib/config/strict_map.h"
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

/// Reads `dtype`: of activations, so never fp8.
[[nodiscard]] std::optional<DType> read_activation_dtype(const StrictMap& mix, Problems& problems);

/// Reads `kv_cache`, which may be null; the cache's dtype defaults to the activations'. Keys of an
/// expanded MLA are ragged unless it names a layout, or what only a pool has.
[[nodiscard]] std::optional<KvCacheConfig> read_kv_cache(const YamlNode* node, DType activations,
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

}  // namespace attnbench
