// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "lib/batch/indexer_inputs.h"
#include "lib/contents/contents.h"

namespace attnbench {

// What an indexer reads (IndexerInputs), as a function of the case's contents. A query's or key's
// largest element is near e4m3's largest number, as quantisation by row leaves it. Of fills that
// are not timed a quarter of the rows have tiny elements, subnormal ones among them, and scales of
// keys lie further apart. A timed sample has other weights, and a few queries and keys that no
// other one has.

using IndexRow = std::array<std::uint8_t, IndexerInputs::kDim>;  ///< e4m3

struct IndexKey {
  IndexRow row{};
  float scale = 0;  ///< a power of two
};

[[nodiscard]] IndexRow index_query(const Contents& contents, std::int64_t request,
                                   std::int64_t token, int head);
/// The head of a query token whose query is a timed sample's own; -1: none.
[[nodiscard]] int changed_head(const Contents& sample, std::int64_t request, std::int64_t token);
/// Of either sign, with the query's scale in it.
[[nodiscard]] float index_weight(const Contents& contents, std::int64_t request, std::int64_t token,
                                 int head, int heads);
/// A row of the cache, of a pool of `unit` keys: its last key, which closes the pool, decides.
/// Requests with a common prefix have the same rows there. `number` counts rows of one pool.
[[nodiscard]] IndexKey index_key(const Contents& contents, std::int64_t request, std::int64_t row,
                                 std::int64_t unit, std::int64_t number = 0);
/// Whether a row of the cache, of a pool of `unit` keys, is written by the step (IndexWrite). Such
/// rows are as quantisation leaves them: the largest element is above half of e4m3's largest
/// number, unless the key is below the floor of index_key_scale(). Of fills that are not timed some
/// of them have one large element and tiny others, and some are below the floor. Those of pools are
/// what pool_rows.h makes of the pool's keys.
[[nodiscard]] bool is_written_by_step(const Case& c, std::int64_t request, std::int64_t row,
                                      std::int64_t unit = 1);
/// Such a row, drawn.
[[nodiscard]] IndexKey drawn_written_row(std::uint64_t key, Fill fill);
/// The key that such a row is written from, in numbers of bf16, for each of which the row has the
/// nearest number of e4m3; where two are equally near, the even one. Where the cache is in bf16, it
/// is the row's numbers.
[[nodiscard]] std::array<float, IndexerInputs::kDim> new_index_key(const Contents& contents,
                                                                   std::int64_t request,
                                                                   std::int64_t row);
/// The row of a request that is a timed sample's own, behind those that it shares; -1: none. Of a
/// step that writes, the first one that it writes; of pools that of the first new key, be it open.
[[nodiscard]] std::int64_t changed_key(const Contents& sample, std::int64_t request);

}  // namespace attnbench
