// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lib/model/attention_layer.h"
#include "lib/scenario/case.h"
#include "lib/view/field.h"

namespace attnbench {

/// Properties of a layer beyond its heads and dims. Results, their schema, `expand` and `dump`
/// follow from the rows, in their order: a member that joins here is in all of them.
[[nodiscard]] const std::vector<Field<AttentionLayer>>& layer_fields();
/// The lists of a layer with a selection; `expand` and `dump` leave them out of other layers.
[[nodiscard]] const std::vector<Field<AttentionLayer>>& selection_fields();
/// The same of a cache beyond its page size and data type.
[[nodiscard]] const std::vector<Field<KvCacheConfig>>& cache_fields();

/// The layer, or the cache, as `expand` and `dump` write it.
[[nodiscard]] Json layer_json(const AttentionLayer& layer);
[[nodiscard]] Json cache_json(const KvCacheConfig& cache);

}  // namespace attnbench
