// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cascade/plan.h"
#include "lib/base/dtype.h"

namespace attnbench {

/// Joins the partial results of each row by their LSEs. Addresses are the device's.
struct CascadeMerge {
  const CascadeRow* rows = nullptr;    ///< [tokens, heads_q]
  const float* partial_out = nullptr;  ///< [partial rows, head_dim_v], normalised
  const float* partial_lse = nullptr;  ///< [partial rows], base 2
  std::int32_t* counter = nullptr;     ///< set back to 0
  const float* sinks = nullptr;        ///< [heads_q] or null
  std::int64_t tokens = 0;
  std::int32_t heads_q = 0;
  std::int32_t head_dim_v = 0;  ///< a multiple of 32, at most 256
  float v_scale = 1;
  DType dtype = DType::kBF16;  ///< of O: bf16 or f16
  std::byte* out = nullptr;
  std::int64_t out_token_stride = 0, out_head_stride = 0;  ///< bytes
  std::byte* lse = nullptr;
  std::int64_t lse_token_stride = 0, lse_head_stride = 0;  ///< bytes
};

/// Enqueues the merge on a cudaStream_t.
void launch_cascade_merge(const CascadeMerge& merge, void* stream);

}  // namespace attnbench
