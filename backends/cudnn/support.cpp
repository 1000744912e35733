// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cudnn/support.h"

#include <bit>
#include <cstdint>

#include "lib/backend/features.h"

namespace attnbench::cudnn {

Support supports(const Problem& problem) {
  const AttentionLayer& layer = problem.layer;
  if (problem.empty_rows) {
    return Support::no("no rows without keys: cuDNN writes NaN for them");
  }
  constexpr Features kFeatures = {Feature::kCrossAttention, Feature::kNotCausal, Feature::kWindow,
                                  Feature::kSinks,          Feature::kEmptyRows, Feature::kSwaPool};
  if (Support named = unsupported_by_default(
          problem, kFeatures, "cuDNN is asked only for causal masks, windows and one scale");
      !named) {
    return named;
  }
  if (problem.dtype != DType::kBF16 && problem.dtype != DType::kF16) {
    return Support::no("activations in bf16 or f16 only");
  }
  if (problem.cache.dtype != problem.dtype) {
    return Support::no(
        "KV cache in the activations' type only: on sm_90 cuDNN's fp8 attention has fp8 queries "
        "and an fp8 output");
  }
  if (layer.head_dim_qk % 8 != 0 || layer.head_dim_v % 8 != 0 || layer.head_dim_qk > 256 ||
      layer.head_dim_v > 256) {
    return Support::no("head dims that are multiples of 8, at most 256");
  }
  if (!std::has_single_bit(static_cast<std::uint64_t>(problem.cache.page_size))) {
    return Support::no("page sizes that are powers of two only");
  }
  if (layer.has_sinks && problem.limits.q_len <= 1) {
    return Support::no("no sinks in steps of one query token per request, only in longer ones");
  }
  return Support::yes();
}

}  // namespace attnbench::cudnn
