// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lib/device/device.h"

namespace attnbench {

/// What a timer found for work of known length.
struct TimerReading {
  double known_us = 0;
  double found_us = 0;
};

/// Reads 10, 100 and 1000 us. `spin` makes work of a given length by the device's own clock. The
/// time to launch and end it is measured with a length of 0 and subtracted.
[[nodiscard]] std::vector<TimerReading> read_known_lengths(
    SampleTimer& timer, const std::function<Work(double us)>& spin);

/// Throws EnvironmentError, with both figures, when a reading is off by more than 2.5 % or 2 us,
/// whichever is more: the limits of NVBench's noisy_bench test.
void refuse_wrong_readings(std::span<const TimerReading> readings);

}  // namespace attnbench
