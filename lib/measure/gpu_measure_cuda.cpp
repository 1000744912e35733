// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <vector>

#include "lib/device/cuda/timer_kernels.cuh"
#include "lib/measure/ceilings.h"
#include "lib/measure/gpu_ceiling_kernels.cuh"
#include "lib/measure/measure.h"
#include "lib/measure/statistics.h"
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

namespace {

constexpr int kSamples = 20;
constexpr std::int64_t kStreamBytes = std::int64_t{2} << 30;
constexpr double kPreheatS = 0.1;

/// Median rate of samples that each do `work_units`, on a GPU that was kept busy before.
double median_rate(double work_units, SampleTimer& timer, const Work& work) {
  const Work nothing = [](Stream&) {};
  static_cast<void>(timer.clock_mhz_over(kPreheatS, nothing, work));
  std::vector<double> rates;
  for (int i = 0; i < kSamples; ++i) {
    rates.push_back(work_units / (std::max(timer.time(nothing, work).us, 1e-3) * 1e-6));
  }
  return median(rates);
}

}  // namespace

Ceilings measure_gpu_ceilings(Device& device) {
  const DeviceInfo& info = device.info();
  const std::int64_t bytes = std::min(kStreamBytes, info.memory_bytes / 4) / 4096 * 4096;
  const std::unique_ptr<Buffer> buffer =
      device.allocate(static_cast<std::size_t>(bytes), "measuring bandwidth");
  const std::unique_ptr<Buffer> sink = device.allocate(sizeof(float), "measuring bandwidth");
  const std::unique_ptr<Stream> stream = device.make_stream();
  const std::unique_ptr<SampleTimer> timer = device.make_timer(*stream);
  enqueue_noise(*stream, buffer->data(), bytes);

  Ceilings ceilings;
  ceilings.read_bytes_per_s = median_rate(static_cast<double>(bytes), *timer, [&](Stream& on) {
    enqueue_read(on, buffer->data(), bytes, sink->data());
  });
  // The first half is read, the second written.
  ceilings.copy_bytes_per_s = median_rate(static_cast<double>(bytes), *timer, [&](Stream& on) {
    enqueue_copy(on, buffer->data() + bytes / 2, buffer->data(), bytes / 2);
  });
  const TensorWork tensor_work = tensor_work_of(info);
  ceilings.flop_per_s = median_rate(tensor_work.flops, *timer,
                                    [&](Stream& on) { tensor_work.enqueue(on, sink->data()); });
  return ceilings;
}

}  // namespace attnbench
