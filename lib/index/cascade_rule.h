// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace attnbench {

/// What vLLM's use_cascade_attention (v1/attention/backends/flash_attn.py) decides on.
struct CascadeInput {
  std::int64_t common_prefix_len = 0;
  std::span<const std::int32_t> query_lens;
  std::int64_t heads_q = 0;
  std::int64_t heads_kv = 0;
  std::int64_t multiprocessors = 0;
  bool use_alibi = false;
  bool use_sliding_window = false;
  bool use_local_attention = false;
  std::int64_t dcp_world_size = 1;
};

/// Time of the prefix in units of one tile of 128 x 128, by vLLM's model, which counts no memory
/// traffic: how many tiles a multiprocessor computes one after another.
struct CascadeEstimate {
  std::int64_t cascade = 0;
  std::int64_t flash_decoding = 0;
};
[[nodiscard]] CascadeEstimate estimate_cascade(const CascadeInput& input);

struct CascadeDecision {
  bool use = false;
  std::string reason;  ///< the clause of the rule that decided
};

/// Whether vLLM would attend to the common prefix once for all requests.
[[nodiscard]] CascadeDecision use_cascade_attention(const CascadeInput& input);

}  // namespace attnbench
