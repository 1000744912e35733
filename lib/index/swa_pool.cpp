// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/swa_pool.h"

#include <cstddef>

#include "lib/batch/key_set.h"
#include "lib/index/request_tokens.h"

namespace attnbench {

FullToSwaMapping map_window_pages(const ForwardBatch& batch, const AttentionLayer& layer,
                                  std::int64_t page_size, std::int64_t num_pages) {
  FullToSwaMapping mapping((num_pages - 1) * page_size, page_size);
  std::int64_t next_page = 1;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    const std::int64_t reached = KeySet(layer, batch, r).first_in_reach();
    const std::int64_t first = reached / page_size * page_size;
    const auto tokens = request_tokens(batch, r, first, batch.kv_len(r) - first);
    for (std::size_t t = 0; t < tokens.size(); t += static_cast<std::size_t>(page_size)) {
      const std::int64_t page = tokens[t] / page_size;
      // Padding's keys stay on the dummy page; others may be shared with a request before.
      if (page == 0 || mapping.translate(page * page_size) != 0) continue;
      for (std::int64_t offset = 0; offset < page_size; ++offset) {
        mapping.map(page * page_size + offset, next_page * page_size + offset);
      }
      ++next_page;
    }
  }
  return mapping;
}

}  // namespace attnbench
