// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/batch/index_write.h"
#include "lib/layout/lay_out.h"
#include "lib/parts/part_arrays.h"
#include "lib/scenario/case.h"

namespace attnbench {

// A step that writes_index(): the index keys of its new tokens, and the rows of the indexer's cache
// that they go to.

/// index_k and index_slots, as IndexWrite has them. Keys of padding, and of queries before key 0,
/// are NaN and have no slot. A timed sample has a key of its own in each request.
[[nodiscard]] std::vector<PartInput> index_write_inputs(const Case& c, const BatchLayout& layout);
inline constexpr std::size_t kIndexWriteInputs = 2;
[[nodiscard]] std::int64_t index_write_input_bytes(const Case& c);
/// `memory` is that of these inputs; `cache`, of so many pages, the indexer's.
[[nodiscard]] IndexWrite index_write_at(const Case& c, std::int64_t pages, std::byte* cache,
                                        std::span<std::byte* const> memory);

/// Where the row of a slot lies: its elements, and its scale, which is null in bf16.
struct IndexRowPlace {
  std::byte* row = nullptr;
  std::byte* scale = nullptr;
};
[[nodiscard]] IndexRowPlace index_row_place(const Case& c, const IndexWrite& write,
                                            std::int64_t slot);

/// How the row of a request's key differs from what its new token's key should have become: `bytes`
/// are its elements and then its scale. Empty: not at all.
[[nodiscard]] std::string fault_of_index_row(const Contents& contents, std::int64_t request,
                                             std::int64_t position,
                                             std::span<const std::byte> bytes);

}  // namespace attnbench
