// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/engines/engine_graphs.h"

namespace attnbench {

CudaGraphSupport graph_needed_in(Engine engine, const Problem& problem) {
  const bool of_drafts = problem.mode == ForwardMode::kDraftExtend ||
                         problem.mode == ForwardMode::kDraftExtendV2 ||
                         problem.mode == ForwardMode::kDllmExtend;
  if (engine == Engine::kSglang && of_drafts && problem.limits.is_uniform()) {
    return CudaGraphSupport::kUniformBatch;
  }
  return needed_cuda_graph_support(problem);
}

}  // namespace attnbench
