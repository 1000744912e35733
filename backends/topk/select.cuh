// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "lib/batch/index_scores.h"

namespace attnbench::topk {

/// Blocks that can share a row on this GPU: a power of two, 1 where it has no clusters.
[[nodiscard]] int most_blocks_of_row();

/// As many blocks a row as hold its scores in their registers, and twice as many where the rows are
/// few enough.
[[nodiscard]] int blocks_of_row(const IndexScores& scores);

/// Enqueues the choice of the `topk` highest scores of each row, by up to most_blocks_of_row()
/// blocks a row, a power of two: indices [T, groups, topk], -1 behind the units of a shorter row,
/// and lengths [T, groups]. Where there are tails, each list is of topk - 1 units and its tail. All
/// lengths are read on the device.
void enqueue_select(const IndexScores& scores, std::int64_t topk, int blocks_of_row,
                    std::int32_t* indices, std::int32_t* lengths, cudaStream_t stream);

}  // namespace attnbench::topk
