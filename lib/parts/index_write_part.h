// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
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

/// Calls `visit` for each new token that has a key: its number in the batch, its request, and its
/// position there.
using NewKeyVisitor =
    std::function<void(std::int64_t token, std::int64_t request, std::int64_t position)>;
void for_each_new_key(const Case& c, const NewKeyVisitor& visit);

/// What a kernel before has made of a new token, in bf16: a row of an input that is NaN elsewhere.
using NewIndexNumbers = std::array<float, IndexerInputs::kDim>;
using NewNumbersOf =
    std::function<NewIndexNumbers(const Contents&, std::int64_t request, std::int64_t position)>;
void store_new_numbers(const NewIndexNumbers& numbers, std::byte* to);
/// A timed sample has those of changed_key() for itself.
[[nodiscard]] PartInput new_numbers_input(const Case& c, const char* name, const NewNumbersOf& of);

/// index_k and index_slots, as IndexWrite has them, and of pools pool_write_inputs(). Keys of
/// padding, and of queries before key 0, are NaN and have no slot. A timed sample has a key of its
/// own in each request.
[[nodiscard]] std::vector<PartInput> index_write_inputs(const Case& c, const BatchLayout& layout);
/// Without those of pools.
inline constexpr std::size_t kIndexWriteInputs = 2;
[[nodiscard]] std::size_t count_of_index_write_inputs(const Case& c);
[[nodiscard]] std::int64_t index_write_input_bytes(const Case& c);
/// `memory` is that of these inputs; `cache`, of so many pages, the indexer's.
[[nodiscard]] IndexWrite index_write_at(const Case& c, std::int64_t pages, std::byte* cache,
                                        std::span<std::byte* const> memory);

/// The row of the indexer's cache that belongs to a slot of the layer's: a page has one for each
/// pool.
[[nodiscard]] std::int64_t index_slot(const Case& c, std::int64_t slot);
/// Where the row of a slot lies: its elements, and its scale, which is null in bf16.
struct IndexRowPlace {
  std::byte* row = nullptr;
  std::byte* scale = nullptr;
};
[[nodiscard]] IndexRowPlace index_row_place(const Case& c, const IndexWrite& write,
                                            std::int64_t slot);

/// How the row of a request's key, or of the pool that it closes, differs from what it should have
/// become: `bytes` are its elements and then its scale. Empty: not at all.
[[nodiscard]] std::string fault_of_index_row(const Contents& contents, std::int64_t request,
                                             std::int64_t position,
                                             std::span<const std::byte> bytes);

}  // namespace attnbench
