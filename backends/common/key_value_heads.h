// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/kernel_features.h"
#include "backends/common/kernels_in_build.h"
#include "lib/batch/problem.h"

namespace attnbench {

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

}  // namespace attnbench
