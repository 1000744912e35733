// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/batch/indexer_inputs.h"
#include "lib/contents/indexer_rows.h"
#include "lib/scenario/case.h"

namespace attnbench {

// Queries and keys of an indexer as they lie in memory (IndexerInputs).

/// Without a scale of its own.
[[nodiscard]] std::int64_t stored_row_bytes(const Case& c);
/// With its scale, and of a query with its weight.
[[nodiscard]] std::int64_t stored_key_bytes(const Case& c);
/// Again and again it is NaN, in rows and scales.
[[nodiscard]] std::byte nan_byte(const Case& c);

/// e4m3, whose scale lies elsewhere, or bf16, which has the product exactly.
void store_row(const Case& c, const IndexRow& row, float scale, std::byte* to);
/// A query, which has a scale of its own only where that is in no weight.
void store_query(const Case& c, const IndexRow& row, std::byte* to);
/// No row has more bytes.
inline constexpr std::int64_t kMostRowBytes = 2 * IndexerInputs::kDim;

/// The scale of a query in bf16 whose largest element is 3.5.
inline constexpr float kMaximaQueryScale = 0x1p-7f;

}  // namespace attnbench
