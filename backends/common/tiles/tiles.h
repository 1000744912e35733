// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "backends/common/tiles/items.h"
#include "lib/batch/forward_batch.h"
#include "lib/model/attention_layer.h"

namespace attnbench::tiles {

/// Keys that a list can have for a query that sees `kv_len`, those that it repeats counted again.
[[nodiscard]] std::int64_t most_chosen_keys(const Selection& selection, std::int64_t kv_len);

/// The query rows (token x head of the group) of each request in tiles of at most `tile_rows`, each
/// over all keys that some row of it sees. Padding requests have none. Of a layer with a selection
/// each token stands for a request of its own, whose keys are those of its list, as many as it can
/// have.
[[nodiscard]] std::vector<Item> tiles_of(const ForwardBatch& batch, const AttentionLayer& layer,
                                         std::int64_t tile_rows);

}  // namespace attnbench::tiles
