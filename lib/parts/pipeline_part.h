// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/parts/part_arrays.h"
#include "lib/scenario/case.h"

namespace attnbench {

// A step of StepPart::kPipeline. Its inputs are those of the indexer, indexer_inputs().

/// logits, and topk_indices, topk_length and perhaps topk_scores of the selector. The logits are
/// judged as an indexer's, and the lists by the logits that are there: by what the selector read.
[[nodiscard]] PartArrays pipeline_arrays(const Case& c);

/// Which of the arrays are the lists, and the scores that weigh their units.
inline constexpr std::size_t kPipelineLists = 1, kPipelineScores = 3;

/// Bytes of the lists and their lengths. Throws where they exceed 63 bits.
[[nodiscard]] std::int64_t pipeline_list_bytes(const Case& c);

}  // namespace attnbench
