// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace attnbench {

/// Batches that a backend lets a CUDA graph repeat; each level includes those before it. vLLM's
/// AttentionCGSupport (v1/attention/backend.py), same values: a model with several backends has the
/// least of theirs.
enum class CudaGraphSupport : std::uint8_t {
  kNever = 0,
  kUniformSingleTokenDecode = 1,  ///< one query token per request
  kUniformBatch = 2,              ///< the same number of query tokens per request: target_verify
  kAlways = 3,                    ///< prompts and decodes in any mix
};

/// Whether batches with these query lengths can be captured.
[[nodiscard]] inline bool allows(CudaGraphSupport support, std::span<const std::int32_t> q_lens) {
  switch (support) {
    case CudaGraphSupport::kNever:
      return false;
    case CudaGraphSupport::kUniformSingleTokenDecode:
      return std::ranges::all_of(q_lens, [](std::int32_t q_len) { return q_len == 1; });
    case CudaGraphSupport::kUniformBatch:
      return std::ranges::all_of(q_lens, [&](std::int32_t q_len) { return q_len == q_lens[0]; });
    case CudaGraphSupport::kAlways:
      return true;
  }
  return false;
}

}  // namespace attnbench
