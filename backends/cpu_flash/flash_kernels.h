// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/cpu_flash/tile_work.h"
#include "lib/device/cpu/cpu_info.h"

namespace attnbench::cpu_flash {

/// The vector code of one instruction set.
struct Kernels {
  std::int64_t lanes;  ///< floats of a vector
  bool bf16_dots;      ///< reads queries in the layouts for bf16 dot products

  /// Scores, softmax and values of the keys of `tile`, the first of which is key `first`, while
  /// rows of `next` are asked for. May point `tile` at converted rows.
  void (*run_tile)(const TileWork& work, RowPointers& tile, const RowPointers& next,
                   std::int32_t first);
};

/// Of an instruction set that this processor has.
[[nodiscard]] const Kernels& kernels_for(CpuTarget target);

}  // namespace attnbench::cpu_flash
