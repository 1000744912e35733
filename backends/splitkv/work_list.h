// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/common/attention_params.h"

namespace attnbench::splitkv {

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
  std::int32_t padding[2] = {};    ///< to a multiple of 16 bytes
};

/// Bytes of K or V within which a kernel finds rows: a warp's lanes tell each other where a row
/// lies in units of 16 bytes, in one 32-bit word, whose highest value means that there is no row.
inline constexpr std::int64_t kReachOfRows = std::int64_t{16} << 32;

/// Everything a kernel needs, by value.
struct Params : AttentionParams {
  const Item* items = nullptr;       ///< of KV head 0; the others' differ in head alone
  std::int32_t tiles = 0;            ///< counters per KV head
  std::int32_t partials = 0;         ///< partial results per KV head
  std::int32_t* counters = nullptr;  ///< [heads_kv, tiles] pieces done; 0 between launches
  float* partial_out = nullptr;      ///< [heads_kv, partials, partial_rows, dv]
  float* partial_lse = nullptr;      ///< [heads_kv, partials, partial_rows], base 2
  std::int32_t partial_rows = 0;
  std::int32_t num_items = 0;

  /// Token slots. page_size is 1 where slots follow each other evenly across pages.
  const std::int32_t* kv_indices = nullptr;
};

}  // namespace attnbench::splitkv
