// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cuda/spin.cuh"
#include "lib/measure/measure.h"
#include "lib/measure/timer_check.h"

namespace attnbench {

void check_timer(Device& device) {
  if (device.info().kind != DeviceKind::kCuda) return;
  const std::unique_ptr<Stream> stream = device.make_stream();
  const std::unique_ptr<SampleTimer> timer = device.make_timer(*stream);
  const auto spin = [](double us) -> Work {
    return [us](Stream& on) { enqueue_spin(on, static_cast<std::uint64_t>(us * 1e3)); };
  };
  // Loads the kernel, and wakes the clocks: at idle ones a launch takes microseconds longer.
  static_cast<void>(timer->clock_mhz_over(0.02, spin(0), spin(1000)));
  refuse_wrong_readings(read_known_lengths(*timer, spin));
}

}  // namespace attnbench
