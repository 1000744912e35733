// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/watched_samples.h"

#include <algorithm>
#include <stdexcept>

#include "lib/base/counter_hash.h"
#include "lib/session/placed_samples.h"
#include "lib/verify/observation.h"

namespace attnbench {

WatchedSamples::WatchedSamples(std::unique_ptr<SampleSource> samples, std::uint64_t seed, Wait wait)
    : samples_(std::move(samples)), seed_(seed), wait_(std::move(wait)) {}

void WatchedSamples::warm_up(WarmUp& first, double enough_s, double limit_s, const Stop& stop) {
  samples_->warm_up(first, enough_s, limit_s, stop);
  if (first.damage.empty()) return;
  SampleBlock block;
  if (!is_clean_again(first.damage, block, 1, enough_s, stop)) end(first.damage);
}

void WatchedSamples::end(const std::string& damage) {
  damage_ = damage;
  throw std::runtime_error(damage);
}

bool WatchedSamples::is_clean_again(const std::string& damage, SampleBlock& block, int count,
                                    double left_s, const Stop& stop) {
  for (const double wait_s : kWaitsBeforeRepetition_s) {
    if (stop()) break;
    wait_(wait_s);
    SampleBlock again;
    samples_->take(again, count, left_s, stop);
    if (!again.damage.empty()) continue;
    if (odd_damage_.empty()) odd_damage_ = damage;
    block = std::move(again);
    return true;
  }
  return false;
}

void WatchedSamples::take(SampleBlock& block, int count, double left_s, const Stop& stop) {
  samples_->take(block, count, left_s, stop);
  if (!block.damage.empty()) {
    const std::string damage = block.damage;
    if (!is_clean_again(damage, block, count, left_s, stop)) end(damage);
  }
  for (SampleOutputs& outputs : block.outputs) keep(std::move(outputs));
  ++visits_;
  block.outputs.clear();
}

void WatchedSamples::keep(SampleOutputs outputs) {
  ++taken_;
  for (std::size_t step = 0; step < outputs.unwritten.size(); ++step) {
    const SampleIo::Unwritten& found = outputs.unwritten[step];
    if (found.out > 0) unwritten_.try_emplace({false, step}, Unwritten{taken_, step, found});
    if (found.lse > 0) unwritten_.try_emplace({true, step}, Unwritten{taken_, step, found});
  }
  last_ = {taken_, std::move(outputs)};
  const std::uint64_t draw = combine(seed_, static_cast<std::uint64_t>(taken_));
  const auto [known, is_first] = drawn_.try_emplace(visits_ % kPlacements, draw, last_);
  if (!is_first && draw < known->second.first) known->second = {draw, last_};
}

std::vector<WatchedSamples::Unwritten> WatchedSamples::unwritten() const {
  std::vector<Unwritten> all;
  for (const auto& [kind, sample] : unwritten_) all.push_back(sample);
  return all;
}

std::vector<WatchedSamples::Kept> WatchedSamples::kept() const {
  std::vector<Kept> all;
  for (const auto& [placement, drawn] : drawn_) all.push_back(drawn.second);
  const auto is_last = [&](const Kept& each) { return each.ordinal == last_.ordinal; };
  if (taken_ > 0 && std::ranges::none_of(all, is_last)) all.push_back(last_);
  std::ranges::sort(all, {}, &Kept::ordinal);
  return all;
}

}  // namespace attnbench
