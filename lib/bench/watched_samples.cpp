// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/watched_samples.h"

#include <algorithm>
#include <stdexcept>

#include "lib/base/counter_hash.h"
#include "lib/session/placed_samples.h"

namespace attnbench {

void WatchedSamples::warm_up(FirstSamples& first, double enough_s, double limit_s,
                             const Stop& stop) {
  samples_->warm_up(first, enough_s, limit_s, stop);
  end_if(first.damage);
}

void WatchedSamples::end_if(const std::string& damage) {
  if (damage.empty()) return;
  damage_ = damage;
  throw std::runtime_error(damage);
}

void WatchedSamples::take(SampleBlock& block, int count, double left_s, const Stop& stop) {
  samples_->take(block, count, left_s, stop);
  for (SampleOutputs& outputs : block.outputs) keep(std::move(outputs));
  ++visits_;
  block.outputs.clear();
  end_if(block.damage);
}

void WatchedSamples::keep(SampleOutputs outputs) {
  ++taken_;
  last_ = {taken_, std::move(outputs)};
  const std::uint64_t draw = combine(seed_, static_cast<std::uint64_t>(taken_));
  const auto [known, is_first] = drawn_.try_emplace(visits_ % kPlacements, draw, last_);
  if (!is_first && draw < known->second.first) known->second = {draw, last_};
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
