// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/timer_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"
#include "lib/measure/statistics.h"

namespace attnbench {
namespace {

constexpr int kTimings = 15;

double median_us(SampleTimer& timer, const Work& work) {
  const Work nothing = [](Stream&) {};
  std::vector<double> us;
  for (int i = 0; i < kTimings; ++i) us.push_back(timer.time(nothing, work).us);
  return median(us);
}

}  // namespace

std::vector<TimerReading> read_known_lengths(SampleTimer& timer,
                                             const std::function<Work(double us)>& spin) {
  const double launch_us = median_us(timer, spin(0));
  std::vector<TimerReading> readings;
  for (const double us : {10.0, 100.0, 1000.0}) {
    readings.push_back({us, median_us(timer, spin(us)) - launch_us});
  }
  return readings;
}

void refuse_wrong_readings(std::span<const TimerReading> readings) {
  for (const TimerReading& reading : readings) {
    const double limit_us = std::max(0.025 * reading.known_us, 2.0);
    // So that NaN is refused, too.
    if (std::abs(reading.found_us - reading.known_us) <= limit_us) continue;
    throw EnvironmentError(
        fmt::format("the device's timer found {:.2f} us for a kernel that lasts {:.0f} us: another "
                    "program may be using the GPU",
                    reading.found_us, reading.known_us));
  }
}

}  // namespace attnbench
