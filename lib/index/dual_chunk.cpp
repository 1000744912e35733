// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/dual_chunk.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"

namespace attnbench {
namespace {

/// Appends the pages of keys [begin, begin + keys) of row `row`.
void append_row(PageTable& to, const PageTable& table, std::int64_t row, std::int64_t begin,
                std::int64_t keys) {
  const auto pages = table.row(row).subspan(to_size(begin / table.page_size),
                                            to_size(ceil_div(keys, table.page_size)));
  to.page_table.insert(to.page_table.end(), pages.begin(), pages.end());
  to.page_table.resize(to.page_table.size() + to_size(to.width) - pages.size(), -1);
  to.cache_seqlens.push_back(narrow_i32(keys));
}

}  // namespace

DualChunkDecode make_dual_chunk_decode(const DualChunk& dual, const PageTable& table) {
  const std::int64_t step = dual.step();
  expects(dual.exists() && step % table.page_size == 0, "a dual chunk is whole pages");
  DualChunkDecode decode;
  decode.intra.page_size = decode.succ.page_size = table.page_size;
  decode.intra.width = decode.succ.width = step / table.page_size;
  for (std::int64_t r = 0; r < std::ssize(table.cache_seqlens); ++r) {
    const std::int64_t keys = table.cache_seqlens[to_size(r)];
    const std::int64_t own = std::max<std::int64_t>(keys - 1, 0) / step * step;
    const std::int64_t before = std::max<std::int64_t>(own - step, 0);
    append_row(decode.intra, table, r, own, keys - own);
    append_row(decode.succ, table, r, before, own - before);
    decode.inter.push_back(narrow_i32(before));
  }
  return decode;
}

}  // namespace attnbench
