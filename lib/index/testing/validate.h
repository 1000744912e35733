// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "lib/index/csr.h"
#include "lib/index/page_table.h"

namespace attnbench {

// Each throws InternalError at the first entry that would make a kernel read outside the pool.

/// indptr starts at 0, never falls, and ends at `total`.
void validate_indptr(std::span<const std::int32_t> indptr, std::int64_t total);
/// Every index lies in [0, pool).
void validate_indices(std::span<const std::int32_t> indices, std::int64_t pool);
/// Both of the above; pool in pages (token slots for page_size 1).
void validate_csr(const CsrIndices& csr, std::int64_t pool, std::int64_t page_size);
/// Entries that cache_seqlens cover lie in [0, pool) pages; the others are not looked at.
void validate_page_table(const PageTable& table, std::int64_t pool);

}  // namespace attnbench
