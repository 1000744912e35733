// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/device_samples.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "lib/base/counter_hash.h"
#include "lib/base/error.h"
#include "lib/device/nvtx_range.h"

namespace attnbench {
namespace {

/// GPUs leave their idle clock within tens of milliseconds and their governor acts every few: three
/// such windows tell a settled clock.
constexpr double kWindowS = 0.020;
constexpr std::size_t kAlike = 3;
constexpr double kTolerance = 0.01;
constexpr int kMostWindows = 150;  ///< 3 s
/// Tells whether a clock still is what it was when the cell before began, and is the preheat of
/// cells whose samples are no measurement, whose clock need not have settled.
constexpr double kShortWindowS = 0.005;

}  // namespace

double settled_clock_mhz(const std::function<double(double seconds)>& run_for, double before) {
  if (before > 0) {
    const double mhz = run_for(kShortWindowS);
    if (std::abs(mhz - before) <= kTolerance * before) return mhz;
  }
  std::vector<double> last;
  for (int window = 0; window < kMostWindows; ++window) {
    const double mhz = run_for(kWindowS);
    if (!(mhz > 0)) return 0;
    last.push_back(mhz);
    if (last.size() > kAlike) last.erase(last.begin());
    const auto [least, most] = std::ranges::minmax(last);
    if (last.size() == kAlike && most - least <= kTolerance * most) break;
  }
  return last.back();
}

namespace {

constexpr int kEstimateSamples = 3;
/// Twice what the lead of an idle device exceeds its median by in one sample of a hundred
/// (results/h200/timing.md). To read a megabyte takes an H200 0.25 us, and a launch.
constexpr double kIdleSpreadUs = 6;

}  // namespace

DeviceSamples::DeviceSamples(TimedCell cell, Clock clock, Device& device, Stream& stream,
                             SampleTimer* timer)
    : cell_(std::move(cell)),
      clock_(std::move(clock)),
      device_(&device),
      stream_(&stream),
      timer_(timer),
      launch_(cell_.forward) {}

void DeviceSamples::renew_memory(Stream& stream) const {
  if (cell_.inputs.io == nullptr) return;
  cell_.inputs.io->rewrite_keys(first_number_, stream);
  cell_.inputs.io->poison_outputs(stream);
}

void DeviceSamples::update(Stream& stream) const {
  if (cell_.update) cell_.update(stream);
}

TimedSample DeviceSamples::sample(int left) {
  SampleSteps steps{prepare_, settle_cache_, launch_, {}};
  if (SampleIo* const io = cell_.inputs.io; io != nullptr) {
    first_number_ += io->sets();
    if (staged_ == 0) {
      first_number_ = cell_.inputs.numbers->take(left * io->sets());
      staged_ = io->stage(first_number_, left, *stream_);
    }
    --staged_;
    const std::uint64_t draw = mix64(static_cast<std::uint64_t>(first_number_));
    watched_set_ = static_cast<std::int64_t>(draw % static_cast<std::uint64_t>(io->sets()));
    steps.before = [this, io](Stream& stream) {
      if (settle_cache_) settle_cache_(stream);
      io->write(first_number_, stream);
    };
    steps.collect = [this, io](Stream& stream) {
      io->collect(watched_set_, first_number_, stream);
    };
  }
  device_->release_cache_reservations();
  if (timer_ != nullptr) {
    TimedSample sample = timer_->time(steps);
    sample.disturbed = idle_lead_us_ > 0 && sample.lead_us > idle_lead_us_ + kIdleSpreadUs;
    return sample;
  }
  steps.prepare(*stream_);
  if (steps.before) steps.before(*stream_);
  stream_->synchronize();
  const double begin = clock_();
  launch_(*stream_);
  stream_->synchronize();
  const double end = clock_();
  if (steps.collect) steps.collect(*stream_);
  return {(end - begin) * 1e6, 0, 0};
}

std::string DeviceSamples::damage() {
  if (!cell_.inputs.damage) return {};
  const std::string wrong =
      cell_.inputs.wrong_outputs ? cell_.inputs.wrong_outputs(first_number_) : "";
  first_number_ = 0;
  static_cast<void>(cell_.inputs.io->stage(0, 1, *stream_));
  cell_.inputs.io->write(0, *stream_);
  renew_memory(*stream_);  // slots of the cache that the forward writes among them
  staged_ = 0;
  stream_->synchronize();
  const std::string damage = cell_.inputs.damage();
  return wrong + (wrong.empty() || damage.empty() ? "" : "; ") + damage;
}

SampleOutputs DeviceSamples::outputs() const {
  const std::span<const std::byte> rows = cell_.inputs.io->collected();
  return {first_number_ + watched_set_, {rows.begin(), rows.end()}, cell_.inputs.io->unwritten()};
}

void DeviceSamples::load() {
  cell_.forward(*stream_);
  stream_->synchronize();
  if (cell_.launch == LaunchMode::kGraph) {
    graph_ = device_->record(*stream_, cell_.forward);
    expects(graph_ != nullptr, "a graph cell was given to a device without graphs");
    launch_ = [graph = graph_.get()](Stream& stream) { graph->replay(stream); };
    update(*stream_);
    launch_(*stream_);
    stream_->synchronize();
  }
  switch (cell_.cache) {
    case CacheState::kCold:
      prepare_ = [this](Stream& stream) {
        update(stream);
        renew_memory(stream);
      };
      settle_cache_ = [this](Stream& stream) { device_->flush_cache(stream); };
      break;
    case CacheState::kWarm:
      prepare_ = [this](Stream& stream) {
        update(stream);
        launch_(stream);
        renew_memory(stream);
      };
      break;
    case CacheState::kServing:
      prepare_ = [this](Stream& stream) {
        update(stream);
        renew_memory(stream);
      };
      settle_cache_ = [this](Stream& stream) {
        device_->flush_cache(stream);
        device_->touch(stream, cell_.serving);
      };
      break;
  }
}

void DeviceSamples::find_idle_lead() {
  if (timer_ == nullptr || !settle_cache_ || idle_lead_us_ > 0) return;
  SampleSteps steps{prepare_, settle_cache_, {}, {}};
  if (SampleIo* const io = cell_.inputs.io; io != nullptr) {
    // Contents of its own for each, as any sample has: the flush also writes back the keys that
    // were rewritten, and those of 64 requests of 4k tokens make it 6 us longer (H200).
    steps.prepare = [this, io](Stream& stream) {
      first_number_ = cell_.inputs.numbers->take(io->sets());
      static_cast<void>(io->stage(first_number_, 1, stream));
      prepare_(stream);
    };
    steps.before = [this, io](Stream& stream) {
      settle_cache_(stream);
      io->write(first_number_, stream);
    };
  }
  staged_ = 0;
  idle_lead_us_ = timer_->idle_lead_us(steps);
}

void DeviceSamples::warm_up(WarmUp& first, double enough_s, double limit_s, const Stop& stop) {
  double begin = clock_();
  load();
  if (timer_ != nullptr) {
    const double before = clock_();
    const auto prepare = [this](Stream& stream) {
      prepare_(stream);
      if (settle_cache_) settle_cache_(stream);
    };
    const auto clock_over = [&](double seconds) {
      return stop() ? 0 : timer_->clock_mhz_over(seconds, prepare, launch_);
    };
    first.settled_mhz = enough_s > 0 ? settled_clock_mhz(clock_over, device_->settled_mhz)
                                     : clock_over(kShortWindowS);
    if (enough_s > 0) device_->settled_mhz = first.settled_mhz;
    begin += clock_() - before;  // the settling of a cold device is not counted
  }
  first.sample_s = first.spent_s = clock_() - begin;
  for (int i = 0; i < kEstimateSamples && first.spent_s < limit_s && !stop(); ++i) {
    const double sample_begin = clock_();
    static_cast<void>(sample(1));
    const double now = clock_();
    // The least: a disturbed estimate would shrink every block that follows.
    first.sample_s = i == 0 ? now - sample_begin : std::min(first.sample_s, now - sample_begin);
    first.spent_s = now - begin;
    if (first.spent_s > enough_s) break;
  }
  first.damage = damage();
}

void DeviceSamples::take(SampleBlock& block, int count, double left_s, const Stop& stop) {
  const NvtxRange range(cell_.name, cell_.bytes);  // around the block: inside, it would be timed
  const double begin = clock_();
  if (!is_loaded()) load();
  device_
      ->wait_until_idle();  // other cells' work on other streams would disturb this one's samples
  find_idle_lead();
  for (int i = 0; i < count; ++i) {
    // Only between samples, and never before the first: a timeout leaves at least one block.
    if (i > 0 && block.spent_s >= left_s) break;
    if (stop()) break;
    block.samples.push_back(sample(count - i));
    if (cell_.inputs.io != nullptr) block.outputs.push_back(outputs());
    block.spent_s = clock_() - begin;
  }
  block.clock_events = device_->clock_events();
  block.processes = device_->processes();
  if (block.samples.empty()) return;
  block.damage = damage();
  block.spent_s = clock_() - begin;
}

}  // namespace attnbench
