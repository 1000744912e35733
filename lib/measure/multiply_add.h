// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "lib/device/cpu_target.h"

namespace attnbench {

/// A loop of independent multiply-adds in registers: the most that kernels of an instruction set
/// can reach.
struct MultiplyAdd {
  /// Runs this many steps; the result depends on all of them, so that no loop can be dropped.
  float (*run)(std::int64_t steps) = nullptr;
  std::int64_t flop_per_step = 0;  ///< a multiplication and an addition count one each
};

/// Those of `target`: f32 and, where it has them, dot products of bf16.
[[nodiscard]] std::vector<MultiplyAdd> multiply_adds(CpuTarget target);

}  // namespace attnbench
