// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/testing/validate.h"

#include "lib/base/error.h"
#include "lib/base/int_math.h"

namespace attnbench {

void validate_indptr(std::span<const std::int32_t> indptr, std::int64_t total) {
  expects(!indptr.empty() && indptr.front() == 0, "an indptr starts at 0");
  for (std::size_t r = 1; r < indptr.size(); ++r) {
    expects(indptr[r - 1] <= indptr[r], "an indptr never falls");
  }
  expects(indptr.back() == total, "an indptr ends at the number of its entries");
}

void validate_indices(std::span<const std::int32_t> indices, std::int64_t pool) {
  for (const std::int32_t index : indices) {
    expects(index >= 0 && index < pool, "an index lies outside the KV pool");
  }
}

void validate_csr(const CsrIndices& csr, std::int64_t pool, std::int64_t page_size) {
  validate_indptr(csr.kv_indptr, static_cast<std::int64_t>(csr.kv_indices.size()));
  validate_indices(csr.kv_indices, pool);
  expects(csr.kv_last_page_len.size() + 1 == csr.kv_indptr.size(), "one last page per request");
  for (const std::int32_t len : csr.kv_last_page_len) {
    expects(len >= 1 && len <= page_size, "a last page holds 1 .. page_size tokens");
  }
}

void validate_page_table(const PageTable& table, std::int64_t pool) {
  const auto rows = static_cast<std::int64_t>(table.cache_seqlens.size());
  expects(static_cast<std::int64_t>(table.page_table.size()) == rows * table.width,
          "a page table has rows x width entries");
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t len = table.cache_seqlens[static_cast<std::size_t>(r)];
    const std::int64_t pages = ceil_div(len, table.page_size);
    expects(len >= 0 && pages <= table.width, "a request needs more pages than the table has");
    validate_indices(table.row(r).first(static_cast<std::size_t>(pages)), pool);
  }
}

}  // namespace attnbench
