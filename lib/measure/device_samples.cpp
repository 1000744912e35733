// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/device_samples.h"

#include <algorithm>
#include <utility>

#include "lib/base/error.h"
#include "lib/device/nvtx_range.h"
#include "lib/measure/settled_clock.h"

namespace attnbench {
namespace {

constexpr int kEstimateSamples = 3;

}  // namespace

DeviceSamples::DeviceSamples(TimedCell cell, Clock clock, Device& device, Stream& stream,
                             SampleTimer* timer)
    : cell_(std::move(cell)),
      clock_(std::move(clock)),
      device_(&device),
      stream_(&stream),
      timer_(timer),
      launch_(cell_.forward) {}

TimedSample DeviceSamples::sample() {
  if (timer_ != nullptr) return timer_->time(prepare_, launch_);
  prepare_(*stream_);
  stream_->synchronize();
  const double begin = clock_();
  launch_(*stream_);
  stream_->synchronize();
  return {(clock_() - begin) * 1e6, 0, 0};
}

void DeviceSamples::load_and_record() {
  cell_.forward(*stream_);
  stream_->synchronize();
  if (cell_.launch == LaunchMode::kGraph) {
    graph_ = device_->record(*stream_, cell_.forward);
    expects(graph_ != nullptr, "a graph cell was given to a device without graphs");
    launch_ = [graph = graph_.get()](Stream& stream) { graph->replay(stream); };
    launch_(*stream_);
    stream_->synchronize();
  }
  switch (cell_.cache) {
    case CacheState::kCold:
      prepare_ = [device = device_](Stream& stream) { device->flush_cache(stream); };
      break;
    case CacheState::kWarm:
      prepare_ = launch_;
      break;
    case CacheState::kServing:
      prepare_ = [device = device_, serving = cell_.serving](Stream& stream) {
        device->flush_cache(stream);
        for (const std::span<const std::byte> memory : serving) device->touch(stream, memory);
      };
      break;
  }
}

void DeviceSamples::warm_up(FirstSamples& first, double enough_s, double limit_s,
                            const Stop& stop) {
  double begin = clock_();
  load_and_record();
  if (timer_ != nullptr) {
    const double before = clock_();
    first.settled_mhz = settled_clock_mhz([&](double seconds) {
      return stop() ? 0 : timer_->clock_mhz_over(seconds, prepare_, launch_);
    });
    begin += clock_() - before;  // a cold device's settling is not this cell's doing
  }
  first.sample_s = first.spent_s = clock_() - begin;
  for (int i = 0; i < kEstimateSamples && first.spent_s < limit_s && !stop(); ++i) {
    const double sample_begin = clock_();
    static_cast<void>(sample());
    const double now = clock_();
    // The least: a disturbed estimate would shrink every block that follows.
    first.sample_s = i == 0 ? now - sample_begin : std::min(first.sample_s, now - sample_begin);
    first.spent_s = now - begin;
    if (first.spent_s > enough_s) break;
  }
}

void DeviceSamples::take(SampleBlock& block, int count, double left_s, const Stop& stop) {
  const NvtxRange range(cell_.name, cell_.bytes);  // around the block: inside, it would be timed
  const double begin = clock_();
  for (int i = 0; i < count; ++i) {
    // Only between samples, and never before the first: a timeout leaves at least one block.
    if (i > 0 && block.spent_s >= left_s) break;
    if (stop()) break;
    block.samples.push_back(sample());
    block.spent_s = clock_() - begin;
  }
  block.clock_events = device_->clock_events();
}

}  // namespace attnbench
