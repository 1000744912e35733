// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/page_table.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/index/csr.h"

namespace attnbench {
namespace {

/// page_of(slot): the page of a page's first slot.
template <class PageOf>
PageTable build(const ForwardBatch& batch, std::int64_t page_size, std::int32_t pad,
                std::int64_t min_width, PageOf page_of) {
  expects(page_size > 0, "a page needs at least one token");
  PageTable table;
  table.page_size = page_size;
  table.width = std::max<std::int64_t>(min_width, 1);
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    table.cache_seqlens.push_back(narrow_i32(batch.kv_len(r)));
    table.width = std::max(table.width, ceil_div(batch.kv_len(r), page_size));
  }
  table.page_table.assign(static_cast<std::size_t>(batch.batch_size * table.width), pad);
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    const std::int64_t len = batch.kv_len(r);
    const auto tokens = request_tokens(batch, r, 0, len);
    for (std::int64_t t = 0; t < len; t += page_size) {
      table.page_table[static_cast<std::size_t>(r * table.width + t / page_size)] =
          page_of(tokens[static_cast<std::size_t>(t)]);
    }
  }
  return table;
}

}  // namespace

PageTable build_page_table(const ForwardBatch& batch, std::int64_t page_size, std::int32_t pad,
                           std::int64_t min_width) {
  return build(batch, page_size, pad, min_width,
               [&](std::int32_t slot) { return narrow_i32(slot / page_size); });
}

PageTable build_swa_page_table(const ForwardBatch& batch, std::int64_t page_size,
                               const FullToSwaMapping& mapping, std::int64_t min_width) {
  return build(batch, page_size, -1, min_width,
               [&](std::int32_t slot) { return narrow_i32(mapping.translate(slot) / page_size); });
}

}  // namespace attnbench
