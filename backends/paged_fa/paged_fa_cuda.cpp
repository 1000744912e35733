// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/cuda/planning.h"
#include "backends/common/kernels_in_build.h"
#include "backends/common/no_recurrent.h"
#include "backends/paged_fa/info.h"
#include "backends/paged_fa/paged_fa.h"
#include "backends/paged_fa/planned.h"

namespace attnbench::paged_fa {

PagedFaBackend::PagedFaBackend() : info_(paged_fa::info()) {}

// Weights are packed in the type of the activations, which holds what the cache stores; all else is
// f32.
Numerics PagedFaBackend::numerics(const Problem& problem) const { return {.p = problem.dtype}; }

Support PagedFaBackend::supports(const Problem& problem) const {
  if (problem.layer.is_recurrent()) return Support::no(kNoRecurrent);
  if (problem.layer.shares_row_of_k_and_v()) {
    return Support::no("no MLA: K and V are read as separate heads (see mla)");
  }
  if (problem.layer.has_alibi) return Support::no("no ALiBi, as FlashAttention 3 (see splitkv)");
  if (problem.dtype != DType::kBF16 && problem.dtype != DType::kF16) {
    return Support::no("activations in bf16 or f16 only: tensor cores round f32");
  }
  if (problem.cache.dtype != problem.dtype && size_bytes(problem.cache.dtype) != 1) {
    return Support::no("KV cache in the activations' type, e4m3 or e5m2 only");
  }
  if (!has_kernel(kernel_for(problem, TileKind::kFew))) {
    return Support::no(no_kernel_reason("head dims 64, 96, 128, 256 and 192/128 only"));
  }
  return Support::yes();
}

std::unique_ptr<Plan> PagedFaBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  if (batch.batch_size == 0) return std::make_unique<IdlePlan>();
  return std::make_unique<Planned>(batch, memory);
}

}  // namespace attnbench::paged_fa
