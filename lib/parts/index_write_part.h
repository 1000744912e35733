// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lib/base/dtype.h"
#include "lib/batch/index_write.h"
#include "lib/layout/lay_out.h"
#include "lib/parts/part_arrays.h"
#include "lib/scenario/case.h"

namespace attnbench {

// A step that writes_index(): the index keys of its new tokens, and the rows of the indexer's cache
// that they go to. A compressor's are the keys of its tokens, and rows in pages of their own.

/// Calls `visit` for each new token that has a key: its number in the batch, its request, and its
/// position there.
using NewKeyVisitor =
    std::function<void(std::int64_t token, std::int64_t request, std::int64_t position)>;
void for_each_new_key(const Case& c, const NewKeyVisitor& visit);

/// What a kernel before has made of a new token (PoolShape::columns() of PoolShape::dtype): a row
/// of an input that is NaN elsewhere.
using NewNumbersOf =
    std::function<std::vector<float>(const Contents&, std::int64_t request, std::int64_t position)>;
void store_new_numbers(DType dtype, std::span<const float> numbers, std::byte* to);
/// A timed sample has those of is_own_pool_key() for itself, or of changed_key() where keys are
/// rows of their own.
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
/// The pages of compressed rows, of which the step reads none: NaN.
[[nodiscard]] PartInput compressed_rows_input(const Case& c, const BatchLayout& layout);
/// Bytes of a page that such a step writes to.
[[nodiscard]] std::int64_t written_page_bytes(const Case& c);

/// Where the row of a slot lies: its elements, and its scale, which is null in bf16.
struct IndexRowPlace {
  std::byte* row = nullptr;
  std::byte* scale = nullptr;
};
[[nodiscard]] IndexRowPlace index_row_place(const IndexWrite& write, std::int64_t slot);

/// How the row of a request's key, or of the pool that it closes, differs from what it should have
/// become: `bytes` are its elements and then its scale. Empty: not at all.
[[nodiscard]] std::string fault_of_index_row(const Contents& contents, std::int64_t request,
                                             std::int64_t position,
                                             std::span<const std::byte> bytes);

}  // namespace attnbench
