// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace attnbench::tiles {

/// What one thread block per KV head computes: a tile of rows over keys [key_begin, key_end). Rows
/// of a request that share a KV head are counted token * group_size + head within the group. The
/// request's entries of kv_indptr and qo_indptr come along: reading them first would put one more
/// trip to memory before the first key.
struct alignas(16) Item {
  std::int32_t request = 0;
  std::int32_t kv_begin = 0;  ///< kv_indptr[request]
  std::int32_t kv_len = 0;
  std::int32_t q_begin = 0;  ///< qo_indptr[request]
  std::int32_t q_len = 0;
  std::int32_t kv_head = 0;  ///< 0 in a list; a block fills in its own
  std::int32_t row_begin = 0;
  std::int32_t rows = 0;
  std::int32_t key_begin = 0;
  std::int32_t key_end = 0;
  std::int32_t splits = 1;   ///< pieces that this tile's keys were cut into; 0: merged elsewhere
  std::int32_t tile = 0;     ///< among the tiles that were split: which counter
  std::int32_t partial = 0;  ///< where this piece's result waits for the merge
  std::int32_t first_partial = 0;  ///< of the tile's first piece
  std::int32_t variant = 0;        ///< form of the queries that these keys meet (VariantKeys)
  std::int32_t padding = 0;        ///< to a multiple of 16 bytes
};

}  // namespace attnbench::tiles
