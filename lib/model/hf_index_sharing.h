// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/config/json_fields.h"
#include "lib/model/model_geometry.h"

namespace attnbench {

/// Reads ModelGeometry::index_shared, whose kinds of layers are known. A config says it by a list
/// indexer_types, by the letters of index_topk_pattern, or by a period: layer i has an indexer
/// where max(i - index_skip_topk_offset + 1, 0) is a multiple of index_topk_freq (vLLM 0.33,
/// models/deepseek_v32/attention.py; the offset is 2 unless it is given).
void read_index_sharing(const JsonFields& config, ModelGeometry& model);

}  // namespace attnbench
