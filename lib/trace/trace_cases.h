// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/trace/engine_rules.h"
#include "lib/trace/trace.h"

namespace attnbench {

/// Requests of a case that have the same lengths.
struct CaseRequests {
  std::int64_t count = 0, new_tokens = 0, kv_len = 0;
};

/// A real step that stands for all that are like it.
struct TraceCase {
  std::int64_t weight = 0;  ///< steps that it stands for
  double start_s = 0;       ///< when it was run
  std::int64_t decodes = 0, prefill_tokens = 0;
  std::vector<CaseRequests> requests;      ///< rounded; decodes first, short ones first
  double keys = 0, prefill_pairs = 0;      ///< as rounded
  double steps_keys = 0, steps_pairs = 0;  ///< sums over the steps that it stands for
  double keys_apart = 0;  ///< sum of the differences between their keys and its own
};

/// The steps of a trace as weighted cases.
struct TraceCases {
  std::vector<TraceCase> cases;  ///< the largest weight first
  std::int64_t steps = 0;
  double keys = 0, prefill_pairs = 0;  ///< sums over all steps
  /// Part by which the weighted sum of the cases is off: of keys, and of prefill pairs, hence
  /// FLOPs.
  double keys_error = 0, pairs_error = 0;
  /// Mean difference between the keys of a step and of its case, as a part of the mean keys: what
  /// cancels out in keys_error.
  double keys_apart = 0;
};

/// A length as cases have it: a multiple of 16 tokens, and of a 32nd of the power of two below it.
/// It is at most 1.6 % off where 16 tokens are less, so that many of a batch become equal.
[[nodiscard]] std::int64_t rounded_length(std::int64_t tokens);

/// Simulates twice: once to cluster the steps, once to find the real step of each cluster whose
/// keys and pairs are nearest to the cluster's means.
[[nodiscard]] TraceCases trace_cases(const Trace& trace, const EngineRules& rules,
                                     std::size_t count);

}  // namespace attnbench
