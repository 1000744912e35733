// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/config/json_fields.h"
#include "lib/model/hf_model_types.h"
#include "lib/model/model_geometry.h"

namespace attnbench {

/// Reads ModelGeometry::sliding of a model whose kinds of layers, and heads without regard to them,
/// are known: from the type's own keys, or from per_layer_config, in which transformers 5 keeps
/// what single layers have of their own. The full layers' heads become the model's. Throws
/// ConfigError where layers of one kind differ, or differ in more than heads and dims.
void read_hf_own_heads(const JsonFields& config, const HfModelType& type, ModelGeometry& model);

}  // namespace attnbench
