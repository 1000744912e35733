// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "lib/batch/indexer_inputs.h"
#include "lib/contents/contents.h"
#include "lib/contents/indexer_rows.h"

namespace attnbench {

// What a step makes the rows of pools from (PoolWrite), as a function of the case's contents. Keys
// of a pool differ by far more than their row is rounded by, and so do their weights. Gates and
// positions are multiples of 1/16, of which f32 has each sum.
//
// Every right kernel leaves the same bytes. Exact elements keep away from what parts two numbers of
// e4m3, from 0, and the largest from what parts two scales: by 2^-7 of themselves, which is twice
// what rounding to bf16 on the way takes, and by 2^-16 of the sum of weight |key|. An f32 softmax
// errs by some 2^-21 of that: a unit in the last place or two of each exponential, whose argument
// is below 6 in size, and of each sum. The draws of a pool's last key and gate are repeated until
// this is so.

struct PoolKey {
  std::array<float, IndexerInputs::kDim> k{}, gate{};  ///< numbers of bf16
};

/// The key and the gate at a position: of the step's new tokens, and of those that wait.
[[nodiscard]] PoolKey pool_key(const Contents& contents, std::int64_t request,
                               std::int64_t position);
/// What is added to the gates of key `i` of any pool: the same in all fills.
[[nodiscard]] std::array<float, IndexerInputs::kDim> pool_ape(const Case& c, std::int64_t i);
/// The row of a pool that the step closes.
[[nodiscard]] IndexKey pooled_index_key(const Contents& contents, std::int64_t request,
                                        std::int64_t row);

}  // namespace attnbench
