// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace attnbench {

/// Which half of requests an engine serves.
enum class EngineRole : std::uint8_t {
  kBoth,
  kPrefill,  ///< a request ends with its first token
  kDecode    ///< a request arrives with its prompt's keys and its first token
};

/// What a step is said to take. It decides which requests meet in a batch, and nothing else. The
/// defaults are those of a model of 8 B parameters in bf16 at the rates of NVIDIA's data sheet of
/// one H100 SXM, 3.35 TB/s and 989 TFLOP/s.
struct StepTime {
  double step_s = 4800e-6;  ///< 16 GB of weights are read
  double token_s = 16e-6;   ///< two operations a parameter
  double key_s = 0.04e-6;   ///< 128 KiB, of 32 layers with 8 KV heads of dim 128
};

/// How an engine forms its steps.
struct EngineRules {
  std::int64_t token_budget = 8192;  ///< query tokens of a step (max_num_batched_tokens of vLLM)
  std::int64_t max_requests = 256;   ///< that run at once (max_num_seqs of vLLM)
  /// Decodes first, then parts of prompts in order of arrival. Otherwise whole prompts have steps
  /// of their own, before decodes, and a prompt above the budget has a step for itself.
  bool chunked_prefill = true;
  std::optional<std::int64_t> cache_tokens;  ///< that the prefix cache holds; none: all
  std::int64_t draft_tokens = 0;             ///< that a decode verifies beside its own token
  double accept_rate = 0.7;                  ///< chance of a draft whose forerunners were accepted
  EngineRole role = EngineRole::kBoth;
  std::uint64_t seed = 0;  ///< of which drafts are accepted
  StepTime time;
};

}  // namespace attnbench
