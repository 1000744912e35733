// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/index/page_table.h"

namespace attnbench {

/// Chunked local attention (Llama 4: key j is visible to query i iff j <= i and both lie in the
/// same chunk) as an ordinary causal batch: each request becomes one virtual request per chunk that
/// its queries touch, none where it has no queries. Where queries outnumber keys, those that see
/// nothing belong to the first one, so that it may have more than a chunk's.
struct LocalAttentionBatch {
  std::vector<std::int32_t> q_lens;        ///< [V]
  std::vector<std::int32_t> cu_seqlens_q;  ///< [V + 1]
  std::vector<std::int64_t> k_starts;      ///< [V] first key of the chunk within its request
  PageTable table;                         ///< [V, chunk / page_size]; cache_seqlens are the keys
};

/// `table` covers the whole requests; its cache_seqlens are their kv_lens. Columns beyond its width
/// are clipped to the last one, and are 0 where it has none (they are never read). page_size must
/// divide `chunk`, as vLLM demands; SGLang rounds the chunk down instead, which changes the mask.
[[nodiscard]] LocalAttentionBatch make_local_attention_virtual_batches(
    std::int64_t chunk, std::span<const std::int32_t> q_lens, const PageTable& table);

}  // namespace attnbench
