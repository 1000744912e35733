// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/backend/features.h"
#include "lib/batch/problem.h"

// What the attention kernels of this program can compute, for their supports() and formats().
namespace attnbench {

/// The features that this program's attention kernels share: the masks of visibility.h, and what
/// attention_params.h says of logits. A new feature is refused until it is named here, or by the
/// backend that has it.
inline constexpr Features kKernelFeatures = {
    Feature::kCrossAttention, Feature::kNotCausal, Feature::kDraftTrees, Feature::kBlocks,
    Feature::kWindow,         Feature::kChunks,    Feature::kDualChunks, Feature::kTemperature,
    Feature::kSoftcap,        Feature::kSinks,     Feature::kEmptyRows,  Feature::kPrefixAlone,
    Feature::kSwaPool,        Feature::kPageGaps,
};

/// False in a build with ATTNBENCH_KERNELS=ci, which compiles few of the CUDA kernels: bf16 with a
/// cache in bf16 or e4m3 and, but for MLA, head dim 128. backends/kernel_units.cmake leaves out the
/// others, so code that chooses a kernel may name them only under `if constexpr (kAllKernels)`.
#ifdef ATTNBENCH_KERNELS_CI
inline constexpr bool kAllKernels = false;
#else
inline constexpr bool kAllKernels = true;
#endif

/// Why a backend has no kernel for a case. `kernels` describes the kernels of a full build.
[[nodiscard]] inline std::string no_kernel_reason(std::string kernels,
                                                  bool all_kernels = kAllKernels) {
  if (all_kernels) return kernels;
  return kernels +
         "; not all are in this build (ATTNBENCH_KERNELS=ci): bf16 with a cache in bf16 or "
         "e4m3; head dim 128 or MLA";
}

/// Whether kernels that read K and V as heads of their own, and multiply them on tensor cores, can
/// compute a problem. `features`: those of the kernels; `has_kernel`: this build has one for its
/// types and head dims; `head_dims`: those of a full build.
[[nodiscard]] inline Support supports_key_value_heads(
    const Problem& problem, Features features, bool has_kernel,
    const char* head_dims = "head dims 64, 96, 128, 256 and 192/128 only") {
  if (Support named = unsupported_by_default(problem, features); !named) return named;
  if (problem.dtype != DType::kBF16 && problem.dtype != DType::kF16) {
    return Support::no("activations in bf16 or f16 only: tensor cores round f32");
  }
  if (problem.cache.dtype != problem.dtype && size_bytes(problem.cache.dtype) != 1) {
    return Support::no("KV cache in the activations' type, e4m3 or e5m2 only");
  }
  if (!has_kernel) {
    return Support::no(no_kernel_reason(head_dims));
  }
  return Support::yes();
}

/// The layouts of backends that read whole rows of K and V by their strides: in pages, best first,
/// and ragged.
[[nodiscard]] inline std::vector<KvLayout> layouts_of_whole_rows(const Problem& problem) {
  if (problem.cache.scales != KvScales::kTensor) return {};
  return {KvLayout::kNhd, KvLayout::kHnd, KvLayout::kCombined, KvLayout::kRagged};
}

/// The problem for a backend to which scales of heads and of requests are what a scale of the
/// tensor is: one number for all rows that a tile of queries reads.
[[nodiscard]] inline Problem with_tensor_scale(Problem problem) {
  KvScales& scales = problem.cache.scales;
  if (scales == KvScales::kHead || scales == KvScales::kRequest) scales = KvScales::kTensor;
  return problem;
}

}  // namespace attnbench
