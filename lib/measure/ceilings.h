// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lib/cost/cost.h"
#include "lib/device/cpu/cpu_info.h"
#include "lib/measure/measure.h"

namespace attnbench {

/// The best of each rate over turns of `measure`: until a turn comes to what the ones before it
/// had, within 2 %, but no more than `most`. On a machine at rest the second one does; what
/// disturbs it seldom lowers all rates of two turns alike.
[[nodiscard]] Ceilings best_of_turns(int most, const std::function<Ceilings()>& measure);

/// measure_ceilings() of a GPU. Reads and copies pass over 2 GiB; the multiply-adds are bf16 with
/// f32 sums in registers, by wgmma on sm_90 and by mma.sync elsewhere.
[[nodiscard]] Ceilings measure_gpu_ceilings(Device& device);

/// Sum of all words: one read of the range, as so many `streams` (>= 1), parts of the range that
/// are read in turns, a cache line of each. In a file of its own, because it is compiled with -O3.
[[nodiscard]] std::uint64_t sum_words(std::span<const std::uint64_t> words, std::size_t streams);

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
