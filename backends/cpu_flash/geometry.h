// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "backends/cpu_flash/plan.h"

namespace attnbench::cpu_flash {

/// Floats between the ends of converted rows and of output rows, a cache line. Without it rows lie
/// 512, 1024 or 2048 bytes apart, and a column of them falls into few of the first-level cache's
/// sets.
inline constexpr std::int64_t kRowGap = 16;

/// n rounded up to whole vectors.
[[nodiscard]] constexpr std::int64_t padded(std::int64_t n, std::int64_t lanes) {
  return (n + lanes - 1) / lanes * lanes;
}

/// n rounded up to a power of two.
[[nodiscard]] constexpr std::int64_t power_of_two(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
}

/// Sizes of an item, filled up to whole vectors of `lanes` floats; few rows, which share a vector
/// with those of other keys, to a power of two.
struct Geometry {
  std::int64_t lanes, dk, dv, padded_dk, padded_dv, padded_rows, tile_keys, out_stride;

  Geometry(const AttentionLayer& layer, std::int64_t rows, std::int64_t vector_lanes)
      : lanes(vector_lanes),
        dk(layer.head_dim_qk),
        dv(layer.head_dim_v),
        padded_dk(padded(dk, lanes)),
        padded_dv(padded(dv, lanes)),
        padded_rows(rows <= kDirectRows ? power_of_two(rows) : padded(rows, lanes)),
        tile_keys(WorkPlan::tile_keys(layer, rows)),
        out_stride(padded_dv + kRowGap) {}
};

}  // namespace attnbench::cpu_flash
