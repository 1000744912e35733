// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cuda/sample_timer.cuh"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include "lib/base/counter_hash.h"
#include "lib/device/cuda/handles.cuh"
#include "lib/device/cuda/timer_kernels.cuh"

namespace attnbench {
namespace {

constexpr int kOverheadSamples = 21;
constexpr int kIdleLeads = 5;
constexpr std::uint64_t kWakeUpNs = 20'000'000;  ///< idle clocks would make the overhead larger

constexpr std::uint64_t kMostEmptyLaunches = 8;
constexpr std::uint64_t kMostRecords = 16;

using HostClock = std::chrono::steady_clock;

double us_since(HostClock::time_point begin) {
  return std::chrono::duration<double, std::micro>(HostClock::now() - begin).count();
}

class EventTimer final : public SampleTimer {
 public:
  EventTimer(Stream& stream, int sms, std::optional<double>& overhead_us)
      : stream_(&stream), native_(static_cast<cudaStream_t>(stream.native())), stamps_(sms) {
    if (!overhead_us) overhead_us = measure_overhead_us();
    overhead_us_ = *overhead_us;
  }

  [[nodiscard]] TimedSample time(const SampleSteps& steps) override {
    TimedSample sample = time_raw(steps);
    sample.us = std::max(sample.us - overhead_us_, 0.0);
    return sample;
  }

  [[nodiscard]] double idle_lead_us(const SampleSteps& steps) override {
    std::array<double, kIdleLeads> leads{};
    SampleSteps idle = steps;
    idle.work = [](Stream&) {};
    for (double& lead : leads) lead = time_raw(idle).lead_us;
    std::ranges::sort(leads);
    return leads[kIdleLeads / 2];
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
  /// Least time of a graph of this many kernels that end immediately.
  [[nodiscard]] double least_us_of_empty_kernels(int count) {
    const std::unique_ptr<Recording> graph = record_graph(*stream_, [count](Stream& stream) {
      for (int i = 0; i < count; ++i) enqueue_spin(stream, 0);
    });
    SampleSteps steps;
    steps.work = [&graph](Stream& stream) { graph->replay(stream); };
    steps.work(*stream_);
    double least = std::numeric_limits<double>::max();
    for (int i = 0; i < kOverheadSamples; ++i) least = std::min(least, time_raw(steps).us);
    return least;
  }

  /// A graph of n empty kernels takes a + n b: b is theirs, a is what two events and the way from
  /// the first to a kernel cost. On an H200 a is 1.9 us, and with it taken out kernels agree with
  /// CUPTI's records to 0.3 us.
  [[nodiscard]] double measure_overhead_us() {
    enqueue_spin(*stream_, kWakeUpNs);
    stream_->synchronize();
    constexpr int kMore = 10;
    const double one = least_us_of_empty_kernels(1);
    const double each = (least_us_of_empty_kernels(1 + kMore) - one) / kMore;
    return std::max(one - each, 0.0);
  }

  /// Equal samples leave the queue of commands where they found it, sample after sample; and where
  /// it stands decides whether an eager launch takes 0.9 us more (H200). A random number of empty
  /// launches and records makes each sample's place a new draw, so that a median holds that luck.
  void move_on_in_queue() {
    const std::uint64_t draw = mix64(++draws_);
    for (std::uint64_t i = 0; i < draw % kMostEmptyLaunches; ++i) enqueue_spin(*stream_, 0);
    for (std::uint64_t i = 0; i < (draw >> 32) % kMostRecords; ++i) {
      check_cuda(cudaEventRecord(begin_.get(), native_), "cudaEventRecord");
    }
  }

  [[nodiscard]] TimedSample time_raw(const SampleSteps& steps) {
    move_on_in_queue();
    if (steps.prepare) steps.prepare(*stream_);
    stream_->synchronize();
    TimedSample sample;
    {
      const Blocker::Hold hold(blocker_, native_);
      if (steps.before) steps.before(*stream_);
      // The stamps lie outside of the events: their kernels are no part of the sample.
      stamps_.enqueue_begin(native_);
      check_cuda(cudaEventRecord(begin_.get(), native_), "cudaEventRecord");
      const HostClock::time_point enqueue = HostClock::now();
      steps.work(*stream_);
      sample.enqueue_us = us_since(enqueue);
      check_cuda(cudaEventRecord(end_.get(), native_), "cudaEventRecord");
      if (steps.collect) steps.collect(*stream_);
      stamps_.enqueue_end(native_);
    }
    stream_->synchronize();
    if (blocker_.timed_out()) {
      throw HostSyncError(
          "forward waits for its stream, allocates, or launches about 1000 kernels or more: it "
          "cannot be queued behind other work");
    }
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, begin_.get(), end_.get()), "cudaEventElapsedTime");
    sample.us = static_cast<double>(ms) * 1e3;
    sample.lead_us =
        (static_cast<double>(stamps_.last_begin_ns()) - static_cast<double>(blocker_.ended_ns())) /
        1e3;
    sample.clock_mhz = stamps_.mhz();
    return sample;
  }

  Stream* stream_;
  cudaStream_t native_;
  std::uint64_t draws_ = 0;
  Blocker blocker_;
  ClockStamps stamps_;
  EventHandle begin_ = make_event_handle();
  EventHandle end_ = make_event_handle();
  double overhead_us_ = 0;  ///< of a sample itself, however many kernels are in it
};

}  // namespace

std::unique_ptr<SampleTimer> make_event_timer(Stream& stream, int sms,
                                              std::optional<double>& overhead_us) {
  return std::make_unique<EventTimer>(stream, sms, overhead_us);
}

}  // namespace attnbench
