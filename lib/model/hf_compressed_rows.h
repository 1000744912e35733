// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/config/json_fields.h"
#include "lib/model/hf_model_types.h"
#include "lib/model/model_geometry.h"

// DeepSeek-V4's keys, as transformers 5.24.0 reads them
// (deepseek_v4/configuration_deepseek_v4.py).
namespace attnbench {

/// The kinds of `layers` layers by compress_ratios: 0 sliding, 4 sparse, 128 compressed. A
/// checkpoint's list goes on behind the model's layers with those of its draft head. Without a list
/// the first two layers are compressed, and then every second one is sparse. Throws ConfigError.
[[nodiscard]] LayerCounts kinds_by_compress_ratios(const JsonFields& config, int layers);

/// Reads into `model` the width of a row, which is K and V, what an indexer takes, and the tokens
/// of a compressed row of both kinds. Dims that carry RoPE are among the row's. Throws ConfigError.
void read_hf_compressed_rows(const JsonFields& config, const HfModelType& type,
                             ModelGeometry& model);

}  // namespace attnbench
