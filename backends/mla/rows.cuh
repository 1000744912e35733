// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/output_rows.cuh"
#include "backends/mla/params.h"

namespace attnbench::mla {

/// Of row `row` of a tile. There is one KV head.
__device__ __forceinline__ cuda::RowPlace place_of(const Params& p, const Item& item, int row) {
  return cuda::place_of(p, item.q_begin, 0, item.row_begin + row);
}

}  // namespace attnbench::mla
