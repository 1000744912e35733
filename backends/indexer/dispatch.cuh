// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/compiled_kernel.cuh"
#include "backends/indexer/score.cuh"

namespace attnbench::indexer {

inline constexpr int kGroupThreads = 128;  // of a warpgroup
/// Warpgroups of a multiprocessor at once, as registers allow.
inline constexpr int kMostGroups = 4;

/// For blocks with queries of `tokens` tokens, kTokensAtOnce of which are under way at once: 1 or 2
/// (kernel_units.cmake).
template <int kTokensAtOnce>
[[nodiscard]] cuda::CompiledKernel<ScoreStep> find_score_kernel(int tokens);

}  // namespace attnbench::indexer
