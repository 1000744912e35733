// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "lib/batch/index_scores.h"

namespace attnbench::topk {

/// Does what enqueue_select() does by a block of 1024 threads a row, which reads the row once for
/// each pass: for rows too long for the registers of a block, where no other block has time.
void enqueue_select_by_rereading(const IndexScores& scores, std::int64_t topk,
                                 std::int32_t* indices, std::int32_t* lengths, cudaStream_t stream);

}  // namespace attnbench::topk
