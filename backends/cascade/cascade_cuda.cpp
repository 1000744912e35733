// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cascade/cascade.h"
#include "backends/cascade/planned.h"
#include "backends/common/cuda/planning.h"
#include "backends/common/shared_scales.h"
#include "backends/splitkv/splitkv.h"
#include "lib/backend/features.h"

namespace attnbench::cascade {

CascadeBackend::CascadeBackend() : info_(cascade::info()) {}

// The same kernels, merged in f32.
Numerics CascadeBackend::numerics(const Problem& problem) const {
  return splitkv::SplitKvBackend().numerics(problem);
}

Support CascadeBackend::supports(const Problem& problem) const {
  constexpr Features kFeatures = {Feature::kDraftTrees, Feature::kSoftcap,     Feature::kSinks,
                                  Feature::kEmptyRows,  Feature::kPrefixAlone, Feature::kSwaPool};
  if (Support named = unsupported_by_default(
          problem, kFeatures, "all queries see a prefix whole, and in one form of themselves");
      !named) {
    return named;
  }
  return splitkv::SplitKvBackend().supports(problem);
}

std::vector<KvLayout> CascadeBackend::formats(const Problem& problem) const {
  if (problem.cache.scales == KvScales::kRequest) return {};
  return Backend::formats(with_tensor_scale(problem));
}

std::unique_ptr<Plan> CascadeBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  if (batch.batch_size == 0) return std::make_unique<IdlePlan>();
  return std::make_unique<Planned>(batch, memory);
}

}  // namespace attnbench::cascade
