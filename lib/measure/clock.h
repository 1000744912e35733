// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lib/measure/measure.h"

namespace attnbench {

/// Seconds since some fixed moment, never going back. Passed in so that the rounds can be tested
/// without waiting and without the noise of a real machine.
using Clock = std::function<double()>;

/// std::chrono::steady_clock.
[[nodiscard]] Clock real_clock();

/// measure_cells() by any clock.
[[nodiscard]] std::vector<CellTiming> measure_cells_by(const Clock& clock,
                                                       std::span<const TimedCell> cells,
                                                       Device& device, const MeasureConfig& config,
                                                       std::uint64_t seed,
                                                       const MeasureHooks& hooks);

}  // namespace attnbench
