// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/as_page_size_1.h"

#include <fmt/format.h>

namespace attnbench {

bool has_linear_slots(const CacheFormat& cache) {
  const bool in_a_page = cache.layout == KvLayout::kNhd || cache.layout == KvLayout::kCombined ||
                         cache.layout == KvLayout::kJoint;
  return cache.page_size == 1 || (in_a_page && !cache.has_gaps());
}

std::string no_linear_slots_reason(const CacheFormat& cache) {
  return fmt::format(
      "no {} cache in pages of {}{}: a table of single tokens is read, which lie evenly spaced in "
      "NHD, combined and joint only",
      to_string(cache.layout), cache.page_size, cache.has_gaps() ? " with gaps between them" : "");
}

CacheFormat as_page_size_1(CacheFormat cache) {
  if (cache.page_size > 1 && has_linear_slots(cache)) cache.page_size = 1, cache.page_stride = 0;
  return cache;
}

KvPool as_page_size_1(KvPool pool) {
  const bool linear = pool.has_plain_rows() &&
                      pool.page_stride_k == pool.page_size * pool.token_stride_k &&
                      pool.page_stride_v == pool.page_size * pool.token_stride_v;
  if (!linear) return pool;
  pool.num_pages *= pool.page_size;
  pool.page_stride_k = pool.token_stride_k;
  pool.page_stride_v = pool.token_stride_v;
  pool.page_size = 1;
  return pool;
}

}  // namespace attnbench
