// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "lib/index/page_table.h"
#include "lib/model/attention_layer.h"

namespace attnbench {

/// A decode of dual-chunk attention in three parts, whose results are merged by their LSEs, as
/// SGLang's dual_chunk_flash_attn runs it: each request's last query over the keys of its own
/// chunk, over the whole chunk before, and over all keys before that.
struct DualChunkDecode {
  PageTable intra, succ;            ///< width: pages of a chunk; -1 behind a row's pages
  std::vector<std::int32_t> inter;  ///< [rows] keys, the first ones of the request's own table
};

/// `table` covers the whole requests; its cache_seqlens are their kv_lens. page_size must divide
/// the step from chunk to chunk, so that each begins with a page.
[[nodiscard]] DualChunkDecode make_dual_chunk_decode(const DualChunk& dual, const PageTable& table);

}  // namespace attnbench
