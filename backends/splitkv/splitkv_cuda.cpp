// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/cuda/planning.h"
#include "backends/common/kernels_in_build.h"
#include "backends/common/no_recurrent.h"
#include "backends/splitkv/info.h"
#include "backends/splitkv/planned.h"
#include "backends/splitkv/splitkv.h"
#include "backends/splitkv/tensors.h"

namespace attnbench::splitkv {

SplitKvBackend::SplitKvBackend(SplitRule rule) : info_(splitkv::info(rule)), rule_(rule) {}

// Tensor cores take q and k as they are stored, fp8 widened to the type of the activations, which
// holds it: no operand is rounded. Weights are packed in that type; all else is f32.
Numerics SplitKvBackend::numerics(const Problem& problem) const { return {.p = problem.dtype}; }

Support SplitKvBackend::supports(const Problem& problem) const {
  if (problem.layer.is_recurrent()) return Support::no(kNoRecurrent);
  if (problem.layer.shares_row_of_k_and_v()) {
    return Support::no("no MLA: K and V are read as separate heads (see mla)");
  }
  if (problem.dtype != DType::kBF16 && problem.dtype != DType::kF16) {
    return Support::no("activations in bf16 or f16 only: tensor cores round f32");
  }
  if (problem.cache.dtype != problem.dtype && size_bytes(problem.cache.dtype) != 1) {
    return Support::no("KV cache in the activations' type, e4m3 or e5m2 only");
  }
  if (!has_kernel(kernel_for(problem, false))) {
    return Support::no(no_kernel_reason("head dims 64, 96, 128, 256 and 192/128 only"));
  }
  return Support::yes();
}

std::unique_ptr<Plan> SplitKvBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  if (batch.batch_size == 0) return std::make_unique<IdlePlan>();
  return std::make_unique<Planned>(batch, rule_, memory);
}

}  // namespace attnbench::splitkv
