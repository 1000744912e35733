// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/paged_fa/kernel_params.h"
#include "backends/paged_fa/launch.h"
#include "lib/batch/forward_batch.h"
#include "lib/batch/problem.h"

namespace attnbench::paged_fa {

/// What selects the kernel for a problem's types and head dims.
[[nodiscard]] inline Kernel kernel_for(const Problem& problem, TileKind tile) {
  return {problem.dtype, problem.cache.dtype, problem.layer.head_dim_qk, problem.layer.head_dim_v,
          tile};
}

/// Sets what `params` takes from the batch's tensors, its KV pool and the layer: addresses,
/// strides, mask rules, scales.
void set_tensors(Params& params, const ForwardBatch& batch);

}  // namespace attnbench::paged_fa
