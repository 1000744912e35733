// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/cuda/planning.h"
#include "backends/common/key_value_heads.h"
#include "backends/common/shared_scales.h"
#include "backends/splitkv/planned.h"
#include "backends/splitkv/splitkv.h"
#include "backends/splitkv/tensors.h"

namespace attnbench::splitkv {

SplitKvBackend::SplitKvBackend(SplitRule rule) : info_(splitkv::info(rule)), rule_(rule) {}

// Tensor cores take q and k as they are stored, fp8 widened to the type of the activations, which
// holds it: no operand is rounded. Weights are packed in that type; all else is f32.
Numerics SplitKvBackend::numerics(const Problem& problem) const { return {.p = problem.dtype}; }

Support SplitKvBackend::supports(const Problem& problem) const {
  return supports_key_value_heads(problem, kKernelFeatures | Features{Feature::kAlibi},
                                  has_kernel(kernel_for(problem, false)));
}

std::vector<KvLayout> SplitKvBackend::formats(const Problem& problem) const {
  return Backend::formats(with_tensor_scale(problem));
}

std::unique_ptr<Plan> SplitKvBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  if (batch.batch_size == 0) return std::make_unique<IdlePlan>();
  return std::make_unique<Planned>(batch, rule_, memory);
}

}  // namespace attnbench::splitkv
