// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "lib/config/json_fields.h"
#include "lib/model/hf_model_types.h"
#include "lib/model/model_geometry.h"

namespace attnbench {

/// Whether a list under `key` is nothing but ones, for full layers.
[[nodiscard]] bool all_full(const JsonFields& config, std::string_view key);

/// Reads which of `model.layers` layers are of which kind, and the window or chunk of those that
/// have one, into `model`; where blocks without attention count as layers, `model.layers` loses
/// them.
void read_hf_layer_kinds(const JsonFields& config, const HfModelType& type, ModelGeometry& model);

/// After the kinds of layers: heads and dims of the linear ones, without which they mean nothing.
void read_hf_linear_layers(const JsonFields& config, const HfModelType& type, ModelGeometry& model);

}  // namespace attnbench
