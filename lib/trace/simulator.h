// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/trace/engine_rules.h"
#include "lib/trace/trace.h"
#include "lib/trace/trace_stats.h"
#include "lib/trace/traced_step.h"

namespace attnbench {

/// What an engine did for all requests of a trace, in its own time.
struct SimulationTotals {
  std::int64_t steps = 0;
  std::int64_t decode_steps = 0, prefill_steps = 0, mixed_steps = 0;  ///< all of them
  std::int64_t requests_in_steps = 0;  ///< a request counts in each of its steps
  std::int64_t decodes = 0;            ///< the same of decodes
  std::int64_t prefill_tokens = 0, hit_tokens = 0, received_tokens = 0, output_tokens = 0;
  std::int64_t keys = 0, prefill_pairs = 0;  ///< sums of TracedStep's
  double busy_s = 0;                         ///< in steps
  double end_s = 0;                          ///< of the last step, since the first arrival
  Spread first_token_s;  ///< from arrival to the first token (TTFT); all 0 for EngineRole::kDecode
  Spread later_token_s;  ///< between tokens of a request (TPOT), of those that have two
};

/// Serves the requests by continuous batching. Each step is shown to `sink`. The same trace and
/// rules give the same steps. Throws InternalError where a token or a request is lost
/// (RequestLedger), ConfigError where a budget holds not one decode.
[[nodiscard]] SimulationTotals simulate(const Trace& trace, const EngineRules& rules,
                                        const StepSink& sink);

}  // namespace attnbench
