// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/indexer/score.cuh"

#include <algorithm>

#include "backends/indexer/dispatch.cuh"

namespace attnbench::indexer {
namespace {

cuda::CompiledKernel<ScoreStep> kernel(int tokens) {
  return tokens == 1 ? find_score_kernel<1>(tokens) : find_score_kernel<2>(tokens);
}

}  // namespace

bool can_score() { return kernel(kMostTokens).is_for_sm_90a(); }

int tiles_at_once(int tokens) { return kernel(tokens).threads / kGroupThreads; }

int blocks_at_once(int tokens) {
  // Of a multiprocessor of sm_90; 1 KB of each block's is the system's.
  constexpr int kShared = 228 * 1024, kOfSystem = 1024;
  return std::min(kMostGroups / tiles_at_once(tokens),
                  kShared / (kernel(tokens).shared_bytes + kOfSystem));
}

void prepare_score(const ScoreStep& step) { kernel(step.tokens).prepare(); }

void enqueue_score(const ScoreStep& step, cudaStream_t stream) {
  if (step.requests == 0) return;
  const dim3 blocks(static_cast<unsigned>(step.tile_blocks),
                    static_cast<unsigned>(step.requests * step.groups));
  kernel(step.tokens).launch("indexer_cuda", blocks, stream, step);
}

}  // namespace attnbench::indexer
