// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/splitkv/launch.h"
#include "backends/splitkv/work_list.h"
#include "lib/batch/forward_batch.h"
#include "lib/batch/problem.h"

namespace attnbench::splitkv {

/// What selects the kernel for a problem's types and head dims.
[[nodiscard]] inline Kernel kernel_for(const Problem& problem, bool many_rows) {
  return {problem.dtype, problem.cache.dtype, problem.layer.head_dim_qk, problem.layer.head_dim_v,
          many_rows};
}

/// As set_attention_params(), for kernels that find keys by their slots. Throws InternalError where
/// K or V lies further apart than they can reach.
void set_tensors(Params& params, const ForwardBatch& batch);

}  // namespace attnbench::splitkv
