// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "lib/batch/forward_mode.h"

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

/// The least level that lets an engine capture the batch and replay it for others of its size.
/// Prompts need kAlways even where they are equally long: a graph is captured for a number of
/// query tokens, and the next prompts divide it otherwise.
[[nodiscard]] CudaGraphSupport needed_cuda_graph_support(ForwardMode mode,
                                                         std::span<const std::int32_t> q_lens);

}  // namespace attnbench
