// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/cuda/planning.h"
#include "backends/common/key_value_heads.h"
#include "backends/paged_fa/paged_fa.h"
#include "backends/paged_fa/planned.h"

namespace attnbench::paged_fa {

PagedFaBackend::PagedFaBackend() : info_(paged_fa::info()) {}

// Weights are packed in the type of the activations, which holds what the cache stores; all else is
// f32.
Numerics PagedFaBackend::numerics(const Problem& problem) const { return {.p = problem.dtype}; }

Support PagedFaBackend::supports(const Problem& problem) const {
  if (problem.layer.dual_chunk.exists() && problem.mode == ForwardMode::kTargetVerify) {
    return Support::no("no drafts in dual chunks (see splitkv)");
  }
  if (problem.layer.has_alibi) return Support::no("no ALiBi, as FlashAttention 3 (see splitkv)");
  return supports_key_value_heads(problem, kKernelFeatures,
                                  has_kernel(kernel_for(problem, TileKind::kFew)),
                                  "head dims 64, 96, 128, 256 and 192/128 only, and 72 and 80 "
                                  "with a cache in the activations' type");
}

std::unique_ptr<Plan> PagedFaBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  if (batch.batch_size == 0) return std::make_unique<IdlePlan>();
  return std::make_unique<Planned>(batch, memory);
}

}  // namespace attnbench::paged_fa
