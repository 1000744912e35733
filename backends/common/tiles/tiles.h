// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "backends/common/tiles/items.h"
#include "lib/batch/forward_batch.h"
#include "lib/model/attention_layer.h"

namespace attnbench::tiles {

/// Keys that a query that sees the tokens of `kv_len` can have in a layer that gathers keys, those
/// that its list repeats counted again: what the list names, or compressed rows beside a window.
[[nodiscard]] std::int64_t most_gathered_keys(const AttentionLayer& layer, std::int64_t kv_len);

/// The query rows (token x head of the group) of each request in tiles of at most `tile_rows`, each
/// over all keys that some row of it sees. Padding requests have none. In a layer that gathers
/// keys each token stands for a request of its own, which has as many keys as the token can have.
[[nodiscard]] std::vector<Item> tiles_of(const ForwardBatch& batch, const AttentionLayer& layer,
                                         std::int64_t tile_rows);

}  // namespace attnbench::tiles
