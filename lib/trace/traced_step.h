// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace attnbench {

/// What one request does in a step.
struct StepRequest {
  std::uint32_t request = 0;    ///< in Trace::requests
  std::int64_t new_tokens = 0;  ///< query tokens, drafts included
  std::int64_t kv_len = 0;      ///< keys that they see, their own included
  std::int64_t hit_tokens = 0;  ///< that the prefix cache spared; in a request's first step only
  std::int64_t received_tokens = 0;  ///< of the prompt, from another engine; in its first step only
  std::int64_t produced_tokens = 0;  ///< of the answer
  bool is_decode = false;
  bool ends = false;
};

/// One forward of a simulated engine.
struct TracedStep {
  double start_s = 0, duration_s = 0;
  std::span<const StepRequest> requests;
  std::int64_t decodes = 0;         ///< requests
  std::int64_t prefill_tokens = 0;  ///< query tokens of prompts
  std::int64_t hit_tokens = 0;
  std::int64_t keys = 0;  ///< of all requests; each reads its own, also where they share a prefix
  std::int64_t prefill_pairs = 0;  ///< (query, key) of prompts under a causal mask
};

using StepSink = std::function<void(const TracedStep&)>;

}  // namespace attnbench
