// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "lib/batch/forward_batch.h"

namespace attnbench {

/// Where two-batch overlap cuts a step, so that one half computes while the other communicates.
struct TwoBatchSplit {
  std::int64_t requests = 0;  ///< whole ones of the left half (SGLang's tbo_split_seq_index)
  /// Query tokens of the left half (tbo_split_token_index). More than those of `requests` where the
  /// next request is cut in two, which both halves have a part of then.
  std::int64_t tokens = 0;
};

/// Whether SGLang's rule knows steps of this mode; it raises NotImplementedError for the others.
[[nodiscard]] bool has_two_batch_split(ForwardMode mode);

/// SGLang's rule for extend and mixed steps: behind the number of requests whose query tokens
/// differ least from the others', of equal ones the largest. Where that leaves one half less than
/// 0.48 of the tokens, behind half of the tokens, inside a request: its two-chunk split.
[[nodiscard]] TwoBatchSplit split_extend_lens(std::span<const std::int32_t> extend_seq_lens);

/// SGLang's rule (batch_overlap/two_batch_overlap.py, compute_split_seq_index and
/// compute_split_token_index): of decodes and target_verifies, whose requests have as many tokens
/// each, half of the requests, rounded down; of an idle step none; else split_extend_lens(). The
/// mode must be one of has_two_batch_split().
[[nodiscard]] TwoBatchSplit two_batch_split(const ForwardBatch& batch);

}  // namespace attnbench
