// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

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

/// Everything a kernel needs, by value. Addresses are the device's, strides count bytes.
struct Params {
  const Item* items = nullptr;  ///< of KV head 0; the others' differ in head alone
  std::int32_t num_items = 0;
  std::int32_t heads_kv = 1;
  std::int32_t tiles = 0;            ///< counters per KV head
  std::int32_t partials = 0;         ///< partial results per KV head
  std::int32_t* counters = nullptr;  ///< [heads_kv, tiles] pieces done; 0 between launches
  float* partial_out = nullptr;      ///< [heads_kv, partials, partial_rows, dv]
  float* partial_lse = nullptr;      ///< [heads_kv, partials, partial_rows], base 2
  std::int32_t partial_rows = 0;

  const std::int32_t* kv_indices = nullptr;  ///< token slots
  const std::uint8_t* custom_mask = nullptr;
  const std::int64_t* mask_indptr = nullptr;
  const std::int64_t* positions = nullptr;

  const std::byte* q = nullptr;
  std::int64_t q_token_stride = 0, q_head_stride = 0;
  std::byte* out = nullptr;
  std::int64_t out_token_stride = 0, out_head_stride = 0;
  std::byte* lse = nullptr;
  std::int64_t lse_token_stride = 0, lse_head_stride = 0;
  const float* sinks = nullptr;

  const std::byte* k = nullptr;
  const std::byte* v = nullptr;
  std::int32_t page_size = 1;  ///< 1 when slots follow each other evenly across pages
  std::int64_t k_page_stride = 0, k_token_stride = 0, k_head_stride = 0;
  std::int64_t v_page_stride = 0, v_token_stride = 0, v_head_stride = 0;

  std::int32_t group = 1;  ///< query heads per KV head
  std::int32_t window = -1;
  bool window_by_depth = false;  ///< in draft trees
  bool causal = true;
  std::int32_t alibi_power = 0;  ///< lib/model/attention_layer.h; 0: no ALiBi
  float scale = 1;               ///< of q.k, the cache's k_scale included
  float softcap = 0;
  float v_scale = 1;
};

}  // namespace attnbench::splitkv
