// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "lib/batch/fp8_activations.h"
#include "lib/config/problems.h"
#include "lib/config/yaml_tree.h"

namespace attnbench {

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
