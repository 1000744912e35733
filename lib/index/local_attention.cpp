// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/local_attention.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/batch/positions.h"
#include "lib/model/attention_layer.h"

namespace attnbench {

LocalAttentionBatch make_local_attention_virtual_batches(std::int64_t chunk,
                                                         std::span<const std::int32_t> q_lens,
                                                         const PageTable& table) {
  expects(chunk > 0 && chunk % table.page_size == 0, "a local-attention chunk is whole pages");
  expects(q_lens.size() == table.cache_seqlens.size(), "one query length per request");
  LocalAttentionBatch local;
  local.table.page_size = table.page_size;
  local.table.width = chunk / table.page_size;
  for (std::size_t r = 0; r < q_lens.size(); ++r) {
    const std::int64_t q = q_lens[r];
    const std::int64_t k = table.cache_seqlens[r];
    const auto pages = table.row(static_cast<std::int64_t>(r));
    // Walk the queries chunk by chunk, by their absolute positions. A request without queries,
    // which fills a batch up, has none; queries before key 0 see nothing and join those of chunk 0.
    for (std::int64_t position = k - q; position < k;) {
      const std::int64_t start = chunk_begin(chunk, position);
      const std::int64_t end = std::min(start + chunk, k);
      local.q_lens.push_back(narrow_i32(end - position));
      local.k_starts.push_back(start);
      local.table.cache_seqlens.push_back(narrow_i32(end - start));
      for (std::int64_t j = 0; j < local.table.width; ++j) {
        const std::int64_t column = std::min(start / table.page_size + j, table.width - 1);
        local.table.page_table.push_back(column < 0 ? 0 : pages[static_cast<std::size_t>(column)]);
      }
      position = end;
    }
  }
  local.cu_seqlens_q = indptr_of(local.q_lens);
  return local;
}

}  // namespace attnbench
