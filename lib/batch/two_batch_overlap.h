// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "lib/batch/forward_batch.h"

namespace attnbench {

/// Where two-batch overlap cuts a step, so that one half computes while the other communicates.
struct TwoBatchSplit {
  std::int64_t requests = 0;  ///< of the left half
  std::int64_t tokens = 0;    ///< their query tokens
};

/// Requests of the left half of an extend: the number whose query tokens differ least from the
/// others', of equal ones the largest.
[[nodiscard]] std::int64_t split_extend_lens(std::span<const std::int32_t> extend_seq_lens);

/// SGLang's rule (two_batch_overlap.py, compute_split_seq_index): of decodes and target_verifies,
/// whose requests have as many tokens each, half of the requests, rounded down; of an idle step
/// none; of the extend family split_extend_lens(). A single long request is not cut in two, which
/// SGLang does where lengths are very skewed (two-chunk splits).
[[nodiscard]] TwoBatchSplit two_batch_split(const ForwardBatch& batch);

}  // namespace attnbench
