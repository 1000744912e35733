// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/trace/trace.h"

namespace attnbench {

/// How a number is spread over requests.
struct Spread {
  double mean = 0, least = 0, p50 = 0, p90 = 0, p99 = 0, most = 0;
};

[[nodiscard]] Spread spread_of(const std::vector<double>& values);

/// Requests whose length is above half of `up_to`, and `up_to` at most.
struct LengthBin {
  std::int64_t up_to = 0;  ///< a power of two
  std::size_t inputs = 0, outputs = 0;
};

/// What a trace asks of an engine, before any engine is assumed.
struct TraceStats {
  double span_s = 0;          ///< from the first arrival to the last
  double requests_per_s = 0;  ///< over the span; 0: all came at once
  /// Coefficient of variation of the gaps between arrivals: 1 where they are independent (Poisson),
  /// more where they come in bursts.
  double gap_variation = 0;
  std::int64_t input_tokens = 0, output_tokens = 0;
  /// Tokens of prompts that a prefix cache without a limit spares, in which each prompt lies as
  /// soon as it has arrived.
  std::int64_t reused_tokens = 0;
  Spread input, output, reused;
  std::vector<LengthBin> lengths;  ///< without empty ones at both ends
};

[[nodiscard]] TraceStats trace_stats(const Trace& trace);

}  // namespace attnbench
