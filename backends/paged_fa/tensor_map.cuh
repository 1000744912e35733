// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include "backends/paged_fa/launch.h"

namespace attnbench::paged_fa {

/// K and V of a pool as the copy engine sees them: [pages, heads, tokens of a page, head dim],
/// copied in boxes of `rows` tokens by 64 columns. Ragged keys are one page.
struct PageMaps {
  CUtensorMap k;
  CUtensorMap v;
  std::int32_t rows = 1;  ///< 1: no maps, pages of this size are copied row by row
};

/// For rows of 16-bit elements, in boxes of at most `most_rows`, a power of two. Host work only: no
/// allocation, nothing is enqueued.
[[nodiscard]] PageMaps map_pages(const Params& params, int head_dim_k, int head_dim_v,
                                 int most_rows);

}  // namespace attnbench::paged_fa
