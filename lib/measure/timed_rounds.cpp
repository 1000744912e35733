// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/timed_rounds.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include "lib/measure/statistics.h"

namespace attnbench {
namespace {

/// An interval narrower than this carries no more information: it is the resolution of common
/// timers and of a wake-up.
constexpr double kFloorUs = 0.1;

/// Of the clock that this cell's preheat or last block settled at, not of the device's default: a
/// power-capped prefill always runs below the default, and is to be measured as it runs.
constexpr double kThrottledBelow = 0.95;
constexpr double kMostDiscarded = 0.10;

/// What a visit takes in another process beyond what that process counts: to wake it, and to write
/// and read the times of its samples, on a machine that others keep busy as well.
constexpr double kVisitS = 0.005;
constexpr double kSampleS = 2e-6;
constexpr double kPartOfSamples = 0.1;

double explained_s(const SampleBlock& block) {
  double seconds = kVisitS;
  for (const TimedSample& sample : block.samples) {
    seconds += kSampleS + kPartOfSamples * sample.us / 1e6;
  }
  return seconds;
}

}  // namespace

CellRun::CellRun(const SourcedCell& cell, const MeasureConfig& config)
    : cell_(cell), config_(&config) {}

void CellRun::keep(const SampleBlock& block) {
  std::vector<double> clocks;
  for (const TimedSample& sample : block.samples) {
    if (sample.clock_mhz > 0) clocks.push_back(sample.clock_mhz);
  }
  double reference_mhz = settled_mhz_;
  if (!clocks.empty()) {
    // A power cap acts within a second, later than a short preheat: a whole block below the settled
    // clock means that it has settled lower.
    const double block_mhz = median(clocks);
    reference_mhz = std::min(settled_mhz_, block_mhz);
    settled_mhz_ = block_mhz;
  }
  // The faster half of a block is always kept.
  for (const TimedSample& sample : block.samples) {
    sampled_s_ += sample.us / 1e6;
    if (sample.disturbed) ++disturbed_;
    if (sample.clock_mhz > 0 && sample.clock_mhz < kThrottledBelow * reference_mhz) {
      ++discarded_;
      continue;
    }
    samples_us_.push_back(sample.us / repeats());
    enqueue_us_.push_back(sample.enqueue_us);
    if (sample.clock_mhz > 0) clocks_mhz_.push_back(sample.clock_mhz);
  }
}

void CellRun::guarded(const std::function<void()>& step) {
  try {
    step();
    return;
  } catch (const HostSyncError& error) {
    status_ = MeasureStatus::kHostSync;
    failure_ = error.what();
  } catch (const std::runtime_error& error) {
    status_ = MeasureStatus::kFailed;
    failure_ = error.what();
  }
  done_ = true;
}

void CellRun::warm_up(const SampleSource::Stop& stop) {
  WarmUp first;
  // Where a visit takes one sample, those that estimate how many it could take say nothing.
  const double enough_s = config_->max_block_samples > 1 ? config_->block_s : 0;
  guarded([&] { cell_.samples->warm_up(first, enough_s, config_->cell_timeout_s, stop); });
  settled_mhz_ = first.settled_mhz;
  spent_s_ = first.spent_s;
  // As double first: a forward below the clock's step makes the quotient infinite.
  const double wanted = first.sample_s > 0 ? std::ceil(config_->block_s / first.sample_s) : 1e9;
  block_samples_ =
      static_cast<int>(std::clamp(wanted, static_cast<double>(config_->min_block_samples),
                                  static_cast<double>(config_->max_block_samples)));
}

void CellRun::visit(int round, const SampleSource::Stop& stop) {
  const std::size_t first = samples_us_.size();
  SampleBlock block;
  guarded([&] {
    cell_.samples->take(block, block_samples_, config_->cell_timeout_s - spent_s_, stop);
  });
  spent_s_ += block.spent_s;
  blocks_s_ += block.spent_s;
  clock_events_ |= block.clock_events;
  sharers_ |= sharers_among(block.processes, is_of_this_program);
  if (block.passed_s - block.spent_s > explained_s(block)) {
    ++slow_clock_.visits;
    slow_clock_.process_s += block.spent_s;
    slow_clock_.run_s += block.passed_s;
  }
  keep(block);
  if (samples_us_.size() == first) return;
  blocks_.push_back({round, median(std::span(samples_us_).subspan(first))});
  const double us = blocks_.back().us;
  ordered_us_.insert(std::ranges::upper_bound(ordered_us_, us), us);
  interval_ = median_interval_of_ordered(ordered_us_, kIntervalLevel);
  if (!done_) decide();
}

bool CellRun::throttled() const {
  return discarded_ > kMostDiscarded * (discarded_ + static_cast<int>(samples_us_.size()));
}

bool CellRun::converged() const {
  if (rounds() < config_->min_rounds || blocks_.empty()) return false;
  const double half_us = (interval_.hi - interval_.lo) / 2;
  const double limit_us =
      std::max(config_->precision * median_of_ordered(ordered_us_), kFloorUs / repeats());
  // Without an order statistic that reaches 95 % (fewer than six rounds) nothing has converged.
  return interval_.k > 0 && half_us <= limit_us;
}

void CellRun::decide() {
  if (converged()) {
    status_ = MeasureStatus::kConverged;
    done_ = true;
  } else if (rounds() >= config_->max_rounds) {
    status_ = MeasureStatus::kNoisy;
    done_ = true;
  } else if (spent_s_ >= config_->cell_timeout_s) {
    status_ = MeasureStatus::kTimeout;
    done_ = true;
  }
  if (done_ && throttled()) status_ = MeasureStatus::kThrottled;
}

double CellRun::half_width() const {
  if (blocks_.empty()) return 0;
  const double middle = median_of_ordered(ordered_us_);
  return interval_.k > 0 && middle > 0 ? (interval_.hi - interval_.lo) / 2 / middle : 0;
}

double CellRun::remaining_s() const {
  if (done_) return 0;
  const double round_s = rounds() > 0 ? blocks_s_ / rounds() : config_->block_s;
  // The interval narrows with the square root of the rounds.
  const double excess = half_width() / config_->precision;
  const double wanted = std::clamp(
      rounds() * excess * excess, static_cast<double>(std::max(config_->min_rounds, rounds() + 1)),
      static_cast<double>(std::max(config_->max_rounds, rounds() + 1)));
  return std::clamp((wanted - rounds()) * round_s, 0.0,
                    std::max(0.0, config_->cell_timeout_s - spent_s_));
}

CellTiming CellRun::timing() const {
  CellTiming timing;
  timing.status = status_;
  timing.rounds = rounds();
  timing.samples = static_cast<int>(samples_us_.size());
  timing.discarded = discarded_;
  timing.disturbed = disturbed_;
  timing.slow_clock = slow_clock_;
  timing.clock_events = clock_events_;
  timing.sharers = sharers_;
  timing.sampled_s = sampled_s_;
  timing.failure = failure_;
  if (samples_us_.empty()) return timing;
  timing.median_us = median_of_ordered(ordered_us_);
  timing.blocks = blocks_;
  timing.lo_us = interval_.lo;
  timing.hi_us = interval_.hi;
  timing.q1_us = quantile(samples_us_, 0.25);
  timing.q3_us = quantile(samples_us_, 0.75);
  timing.min_us = quantile(samples_us_, 0);
  timing.max_us = quantile(samples_us_, 1);
  timing.enqueue_us = median(enqueue_us_);
  if (!clocks_mhz_.empty()) timing.sm_mhz = median(clocks_mhz_);
  return timing;
}

}  // namespace attnbench
