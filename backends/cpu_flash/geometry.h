// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/simd.h"
#include "backends/cpu_flash/plan.h"

namespace attnbench {

/// Floats between the ends of converted rows and of output rows, a cache line. Without it rows lie
/// 512, 1024 or 2048 bytes apart, and a column of them falls into few of the first-level cache's
/// sets.
inline constexpr std::int64_t kRowGap = 16;

/// Sizes of an item, filled up to whole vectors.
struct FlashGeometry {
  std::int64_t dk, dv, padded_dk, padded_dv, padded_rows, tile_keys, out_stride;

  FlashGeometry(const AttentionLayer& layer, std::int64_t rows)
      : dk(layer.head_dim_qk),
        dv(layer.head_dim_v),
        padded_dk(simd::padded(dk)),
        padded_dv(simd::padded(dv)),
        padded_rows(simd::padded(rows)),
        tile_keys(FlashPlan::tile_keys(layer)),
        out_stride(padded_dv + kRowGap) {}
};

}  // namespace attnbench
