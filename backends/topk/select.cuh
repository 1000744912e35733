// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "lib/batch/index_scores.h"

namespace attnbench::topk {

/// Enqueues the choice of the `topk` highest scores of each row: indices [T, groups, topk], -1
/// behind the units of a shorter row, and lengths [T, groups]. All lengths are read on the device.
void enqueue_select(const IndexScores& scores, std::int64_t topk, std::int32_t* indices,
                    std::int32_t* lengths, cudaStream_t stream);

}  // namespace attnbench::topk
