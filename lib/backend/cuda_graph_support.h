// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "lib/batch/problem.h"

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

/// vLLM's spelling: "UNIFORM_BATCH".
[[nodiscard]] std::string_view to_string(CudaGraphSupport support);

/// The least level that lets an engine capture the problem's largest step and replay it for others
/// within its limits. Prompts need kAlways even where they are equally long: a graph is captured
/// for a number of query tokens, and the next prompts divide it otherwise.
[[nodiscard]] CudaGraphSupport needed_cuda_graph_support(const Problem& problem);

}  // namespace attnbench
