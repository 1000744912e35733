// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "backends/common/cuda/planning.h"
#include "backends/common/kernel_features.h"
#include "backends/common/kernels_in_build.h"
#include "backends/common/shared_scales.h"
#include "backends/mla/mla.h"
#include "backends/mla/planned.h"

namespace attnbench::mla {

MlaBackend::MlaBackend(bool warpgroups) : info_(mla::info()), warpgroups_(warpgroups) {}

// Weights are packed in the type of the activations, which holds what the cache stores; all else is
// f32.
Numerics MlaBackend::numerics(const Problem& problem) const { return {.p = problem.dtype}; }

Support MlaBackend::supports(const Problem& problem) const {
  const AttentionLayer& layer = problem.layer;
  constexpr Features kFeatures = kKernelFeatures | Features{Feature::kLatent, Feature::kAlibi};
  if (Support named = unsupported_by_default(problem, kFeatures); !named) return named;
  if (!layer.shares_row_of_k_and_v()) {
    return Support::no("absorbed MLA only: one latent row as K and V");
  }
  if (layer.head_dim_qk != kHeadDimK || layer.head_dim_v != kHeadDimV) {
    return Support::no("latent rows of 512 + 64 only");
  }
  if (!std::has_single_bit(static_cast<std::uint64_t>(problem.cache.page_size))) {
    return Support::no("page sizes that are powers of two only");
  }
  if (problem.cache.scales == KvScales::kBlock) {
    if (warpgroups_ && has_kernel(warpgroup_kernel_for(problem))) return Support::yes();
    return Support::no("fp8_ds_mla by the kernel with wgmma only: bf16 activations on sm_90");
  }
  if (!has_kernel({problem.dtype, problem.cache.dtype, TileKind::kFew})) {
    return Support::no(
        no_kernel_reason("activations in bf16 or f16, KV cache in the same type, e4m3 or e5m2"));
  }
  return Support::yes();
}

std::vector<KvLayout> MlaBackend::formats(const Problem& problem) const {
  if (problem.cache.scales == KvScales::kBlock) return {KvLayout::kNhd};
  return Backend::formats(with_tensor_scale(problem));
}

std::unique_ptr<Plan> MlaBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  if (batch.batch_size == 0) return std::make_unique<IdlePlan>();
  return std::make_unique<Planned>(batch, warpgroups_, memory);
}

}  // namespace attnbench::mla
