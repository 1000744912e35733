// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/microbench/gpu_timing/bench.cuh"

#include <algorithm>

#include "lib/device/cuda/timer_kernels.cuh"
#include "lib/measure/statistics.h"

namespace attnbench::gpu_timing {
namespace {

constexpr std::int64_t kNoiseBytes = std::int64_t{1} << 30;

}  // namespace

Bench::Bench(int samples)
    : samples_(samples),
      device_(make_cuda_device(0)),
      stream_(device_->make_stream()),
      timer_(device_->make_timer(*stream_)),
      noise_(device_->allocate(kNoiseBytes, "noise")),
      sink_(device_->allocate(16, "sink")) {
  enqueue_noise(*stream_, noise_->data(), kNoiseBytes);
  device_->flush_cache(*stream_);  // allocates on first use
  read(1 << 20)(*stream_);
  stream_->synchronize();
}

Spread Bench::spread_of(const Work& prepare, const Work& work) const {
  if (once()) {
    // Profilers run each kernel to its end before the next is launched: a blocker would wait for
    // a release that comes after it.
    for (const Work& each : {prepare, work}) {
      each(*stream_);
      stream_->synchronize();
    }
    return {};
  }
  return spread_of([&](int) { return timer_->time(prepare, work); });
}

Spread Bench::spread_of(const std::function<TimedSample(int index)>& sample) const {
  std::vector<double> us;
  std::vector<double> enqueue;
  std::vector<double> clocks;
  static_cast<void>(sample(0));
  for (int i = 0; i < samples_; ++i) {
    const TimedSample taken = sample(i);
    us.push_back(taken.us);
    enqueue.push_back(taken.enqueue_us);
    clocks.push_back(taken.clock_mhz);
  }
  return {quantile(us, 0), quantile(us, 0.25), median(us),    quantile(us, 0.75),
          quantile(us, 1), median(enqueue),    median(clocks)};
}

Work Bench::read(std::int64_t bytes, std::int64_t offset) const {
  return [from = noise_->data() + offset, bytes, sink = sink_->data()](Stream& on) {
    enqueue_read(on, from, bytes, sink);
  };
}

Work Bench::flush() const {
  return [device = device_.get()](Stream& on) { device->flush_cache(on); };
}

Work Bench::empty_kernels(int count) {
  return [count](Stream& on) {
    for (int i = 0; i < count; ++i) enqueue_spin(on, 0);
  };
}

Work Bench::spin(double us) {
  return [us](Stream& on) { enqueue_spin(on, static_cast<std::uint64_t>(us * 1e3)); };
}

}  // namespace attnbench::gpu_timing
