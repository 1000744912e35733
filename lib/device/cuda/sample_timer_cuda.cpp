// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cuda/sample_timer.cuh"

#include <algorithm>
#include <chrono>
#include <vector>

#include "lib/device/cuda/blocker.cuh"
#include "lib/device/cuda/clock_stamps.cuh"
#include "lib/device/cuda/handles.cuh"

namespace attnbench {
namespace {

/// The overhead is a constant of the GPU; the median of these settles it to the timer's step.
constexpr int kOverheadSamples = 21;

using HostClock = std::chrono::steady_clock;

double us_since(HostClock::time_point begin) {
  return std::chrono::duration<double, std::micro>(HostClock::now() - begin).count();
}

class EventTimer final : public SampleTimer {
 public:
  EventTimer(Stream& stream, int sms)
      : stream_(&stream), native_(static_cast<cudaStream_t>(stream.native())), stamps_(sms) {
    const Work nothing = [](Stream&) {};
    std::vector<double> us;
    for (int i = 0; i < kOverheadSamples; ++i) us.push_back(time_raw(nothing, nothing).us);
    const auto middle = us.begin() + kOverheadSamples / 2;
    std::ranges::nth_element(us, middle);
    overhead_us_ = *middle;
  }

  [[nodiscard]] TimedSample time(const Work& prepare, const Work& work) override {
    TimedSample sample = time_raw(prepare, work);
    sample.us = std::max(sample.us - overhead_us_, 0.0);
    return sample;
  }

  [[nodiscard]] double clock_mhz_over(double seconds, const Work& prepare,
                                      const Work& work) override {
    const HostClock::time_point begin = HostClock::now();
    stamps_.enqueue_begin(native_);
    do {
      prepare(*stream_);
      work(*stream_);
      stream_->synchronize();  // no deeper queue: the time asked for is to be kept
    } while (us_since(begin) < seconds * 1e6);
    stamps_.enqueue_end(native_);
    stream_->synchronize();
    return stamps_.mhz();
  }

 private:
  [[nodiscard]] TimedSample time_raw(const Work& prepare, const Work& work) {
    prepare(*stream_);
    stream_->synchronize();
    TimedSample sample;
    {
      const Blocker::Hold hold(blocker_, native_);
      // The stamps lie outside of the events: their kernels are no part of the sample.
      stamps_.enqueue_begin(native_);
      check_cuda(cudaEventRecord(begin_.get(), native_), "cudaEventRecord");
      const HostClock::time_point enqueue = HostClock::now();
      work(*stream_);
      sample.enqueue_us = us_since(enqueue);
      check_cuda(cudaEventRecord(end_.get(), native_), "cudaEventRecord");
      stamps_.enqueue_end(native_);
    }
    stream_->synchronize();
    if (blocker_.timed_out()) {
      throw HostSyncError(
          "forward waits for its stream, allocates, or launches more than the queue holds (about "
          "1000): "
          "it cannot be queued behind other work");
    }
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, begin_.get(), end_.get()), "cudaEventElapsedTime");
    sample.us = static_cast<double>(ms) * 1e3;
    sample.clock_mhz = stamps_.mhz();
    return sample;
  }

  Stream* stream_;
  cudaStream_t native_;
  Blocker blocker_;
  ClockStamps stamps_;
  EventHandle begin_ = make_event_handle();
  EventHandle end_ = make_event_handle();
  double overhead_us_ = 0;  ///< between two events with nothing between them
};

}  // namespace

std::unique_ptr<SampleTimer> make_event_timer(Stream& stream, int sms) {
  return std::make_unique<EventTimer>(stream, sms);
}

}  // namespace attnbench
