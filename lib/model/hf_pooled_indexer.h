// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/config/json_fields.h"
#include "lib/model/hf_model_types.h"
#include "lib/model/model_geometry.h"

namespace attnbench {

/// Reads into `model` the pools of keys that an indexer scores as one and takes whole, and how many
/// of them, for a type with HfLayerRule::kIndexedEveryNth: by the keys of GLM-5.3-Flash where
/// attention is latent, else by those of Qwen4 (transformers 5.24.0, configuration_glm5_next.py and
/// configuration_qwen4_exp.py). The layers that are not linear are sparse, and full where there is
/// no indexer. Throws ConfigError.
void read_hf_pooled_indexer(const JsonFields& config, const HfModelType& type,
                            ModelGeometry& model);

}  // namespace attnbench
