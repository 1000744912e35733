// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/batch/index_write.h"
#include "lib/layout/lay_out.h"
#include "lib/parts/part_arrays.h"
#include "lib/scenario/case.h"

namespace attnbench {

// A step that is_pipeline().

/// Inputs of the indexer, behind them, where lists have one, the tails that a selector reads
/// (IndexScores::tails), and of a step that writes_index() index_write_inputs().
[[nodiscard]] std::vector<PartInput> pipeline_inputs(const Case& c, const BatchLayout& layout);
/// Where the tails are among their memory; null: there are none.
[[nodiscard]] const std::int32_t* tails_in(const Case& c, std::span<std::byte* const> memory);
/// What is written to the cache of so many pages; empty where a step has none of it.
[[nodiscard]] IndexWrite index_write_in(const Case& c, std::int64_t pages,
                                        std::span<std::byte* const> memory);

/// logits, and topk_indices, topk_length and perhaps topk_scores of the selector. The logits are
/// judged as an indexer's, and the lists by the logits that are there: by what the selector read. A
/// tail comes behind what is selected, and in the last column of lists that are padded in front.
/// The rows that only a graph's bucket has are not judged.
[[nodiscard]] PartArrays pipeline_arrays(const Case& c);

/// Which of the arrays are the lists, and the scores that weigh their units.
inline constexpr std::size_t kPipelineLists = 1, kPipelineScores = 3;

/// Bytes of the lists and their lengths. Throws where they exceed 63 bits.
[[nodiscard]] std::int64_t pipeline_list_bytes(const Case& c);

}  // namespace attnbench
