// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/timed_rounds.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "lib/measure/statistics.h"

namespace attnbench {
namespace {

constexpr double kLevel = 0.95;

/// A narrower interval than this says nothing more: the step of common timers and of a wake-up.
constexpr double kFloorUs = 0.1;

constexpr int kEstimateSamples = 3;

}  // namespace

CellRun::CellRun(const TimedCell& cell, const Clock& clock, Device& device, Stream& stream,
                 const MeasureConfig& config)
    : cell_(&cell), clock_(&clock), device_(&device), stream_(&stream), config_(&config) {}

double CellRun::sample_us() {
  if (cell_->cache == CacheState::kCold) {
    device_->flush_cache(*stream_);
  } else {
    cell_->forward(*stream_);
  }
  stream_->synchronize();
  const double begin = (*clock_)();
  cell_->forward(*stream_);
  stream_->synchronize();
  return ((*clock_)() - begin) * 1e6;
}

void CellRun::warm_up(const std::function<bool()>& stop) {
  const double begin = (*clock_)();
  cell_->forward(*stream_);
  stream_->synchronize();
  double cost_s = spent_s_ = (*clock_)() - begin;
  for (int i = 0; i < kEstimateSamples && spent_s_ < config_->cell_timeout_s && !stop(); ++i) {
    const double sample_begin = (*clock_)();
    (void)sample_us();
    const double now = (*clock_)();
    // The least: a disturbed estimate would shrink every block that follows.
    cost_s = i == 0 ? now - sample_begin : std::min(cost_s, now - sample_begin);
    spent_s_ = now - begin;
    if (spent_s_ > config_->block_s) break;
  }
  // As double first: a forward below the clock's step makes the quotient infinite.
  const double wanted = cost_s > 0 ? std::ceil(config_->block_s / cost_s) : 1e9;
  block_samples_ =
      static_cast<int>(std::clamp(wanted, static_cast<double>(config_->min_block_samples),
                                  static_cast<double>(config_->max_block_samples)));
}

void CellRun::visit(const std::function<bool()>& stop) {
  const double begin = (*clock_)();
  const double spent_before = spent_s_;
  const std::size_t first = samples_us_.size();
  for (int i = 0; i < block_samples_; ++i) {
    // Only between samples, and never before the first: a timeout leaves at least one block.
    if (i > 0 && spent_s_ >= config_->cell_timeout_s) break;
    if (stop()) break;
    samples_us_.push_back(sample_us());
    spent_s_ = spent_before + ((*clock_)() - begin);
  }
  if (samples_us_.size() == first) return;
  blocks_s_ += spent_s_ - spent_before;
  block_medians_us_.push_back(median(std::span(samples_us_).subspan(first)));
  decide();
}

void CellRun::decide() {
  const MedianInterval interval = median_interval(block_medians_us_, kLevel);
  const double half_us = (interval.hi - interval.lo) / 2;
  const double limit_us = std::max(config_->precision * median(block_medians_us_), kFloorUs);
  // Without an order statistic that reaches 95 % (fewer than six rounds) nothing has converged.
  if (rounds() >= config_->min_rounds && interval.k > 0 && half_us <= limit_us) {
    status_ = MeasureStatus::kConverged;
    done_ = true;
  } else if (rounds() >= config_->max_rounds) {
    status_ = MeasureStatus::kNoisy;
    done_ = true;
  } else if (spent_s_ >= config_->cell_timeout_s) {
    status_ = MeasureStatus::kTimeout;
    done_ = true;
  }
}

double CellRun::half_width() const {
  if (block_medians_us_.empty()) return 0;
  const MedianInterval interval = median_interval(block_medians_us_, kLevel);
  const double middle = median(block_medians_us_);
  return interval.k > 0 && middle > 0 ? (interval.hi - interval.lo) / 2 / middle : 0;
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
  timing.interrupted = !done_;
  timing.rounds = rounds();
  timing.samples = static_cast<int>(samples_us_.size());
  if (samples_us_.empty()) return timing;
  const MedianInterval interval = median_interval(block_medians_us_, kLevel);
  timing.median_us = median(block_medians_us_);
  timing.lo_us = interval.lo;
  timing.hi_us = interval.hi;
  timing.q1_us = quantile(samples_us_, 0.25);
  timing.q3_us = quantile(samples_us_, 0.75);
  timing.min_us = quantile(samples_us_, 0);
  timing.max_us = quantile(samples_us_, 1);
  return timing;
}

}  // namespace attnbench
