// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "lib/contents/contents.h"
#include "lib/contents/indexer_rows.h"

namespace attnbench {

// What a step makes the rows of pools from (PoolWrite), as a function of the case's contents. Keys
// of a pool differ by far more than their row is rounded by, and so do their weights. Gates and
// what is added to them are multiples of 1/16, of which f32 has each sum.
//
// Every right kernel leaves the same bytes. Exact elements keep away from what parts two numbers of
// the row's type, and of e4m3 from 0, and the largest from what parts two scales: by 2^-16 of the
// sum of weight |key|, and before e4m3 also by 2^-7 of themselves, which is twice what rounding to
// bf16 on the way takes. An f32 softmax errs by some 2^-21 of that sum: a unit in the last place or
// two of each exponential, whose argument is below 6 in size, and of each sum. The draws of a
// pool's last key and gate, of the half that is its own, are repeated until this is so.

/// PoolShape::columns() numbers each, which PoolShape::dtype holds.
struct PoolKey {
  std::vector<float> k, gate;
};

/// The key and the gate at a position: of the step's new tokens, and of those that wait.
[[nodiscard]] PoolKey pool_key(const Contents& contents, std::int64_t request,
                               std::int64_t position);
/// What is added to the gates of key `i` of any pool: the same in all fills.
[[nodiscard]] std::vector<float> pool_ape(const Case& c, std::int64_t i);
/// Whether a timed sample has its own key and gate there.
[[nodiscard]] bool is_own_pool_key(const Contents& sample, std::int64_t request,
                                   std::int64_t position);

/// The row of a pool that the step closes, of e4m3.
[[nodiscard]] IndexKey pooled_index_key(const Contents& contents, std::int64_t request,
                                        std::int64_t row);
/// A row of bf16, which has these numbers.
[[nodiscard]] std::vector<float> compressed_row(const Contents& contents, std::int64_t request,
                                                std::int64_t row);

}  // namespace attnbench
