// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/case_on_device.h"

#include <fmt/format.h>

#include <utility>

#include "lib/base/error.h"

namespace attnbench {

void CaseOnDevice::build() {
  if (!fixture_) build_again();
}

void CaseOnDevice::build_again() {
  // Fails at once: the next backend would wait as long for the same error.
  if (!no_memory_.empty()) throw EnvironmentError(no_memory_);
  sample_io_.reset();
  fixture_.reset();  // first the old one's memory, then the new one's
  timing_hash_.clear();
  known_damage_.clear();
  try {
    fixture_ = std::make_unique<Fixture>(case_, *device_);
  } catch (const EnvironmentError& error) {
    no_memory_ = error.what();
    throw;
  }
}

Fixture& CaseOnDevice::fixture() {
  build();
  timing_hash_.clear();
  return *fixture_;
}

const Fixture& CaseOnDevice::fixture_to_plan() {
  Fixture& fixture = this->fixture();
  fixture.poison_inputs();
  return fixture;
}

const std::string& CaseOnDevice::fill_for_timing() {
  build();
  if (timing_hash_.empty()) {
    fixture_->fill(Fill::kTiming);
    timing_hash_ = fixture_->hash();
  }
  return timing_hash_;
}

CheckedInputs CaseOnDevice::checked_inputs() {
  if (!sample_io_) sample_io_ = make_sample_io(*device_, {fixture_.get()});
  return {sample_io_.get(), &numbers_, [this] { return damage_of(*fixture_); }};
}

std::string CaseOnDevice::damage_of(Fixture& fixture) {
  std::string damage;
  const auto add = [&](const std::string& what) { damage += (damage.empty() ? "" : "; ") + what; };
  for (const std::string& name : fixture.damaged_guards()) {
    if (!known_damage_.emplace(&fixture, name).second) continue;
    add(fmt::format("guard bytes of '{}' changed", name));
  }
  const std::vector<std::string> changed = fixture.changed_inputs();
  for (const std::string& name : changed) add(fmt::format("input '{}' was modified", name));
  if (!changed.empty()) fixture.fill(Fill::kTiming);
  return damage;
}

Fixture& CaseOnDevice::input_set(std::size_t index) {
  if (!no_memory_for_sets_.empty()) throw EnvironmentError(no_memory_for_sets_);
  try {
    while (more_sets_.size() < index) {
      auto set = std::make_unique<Fixture>(case_, *device_);
      set->fill(Fill::kTiming);
      more_sets_.push_back(std::move(set));
    }
  } catch (const EnvironmentError& error) {
    more_sets_.clear();  // they are used only when all of them exist
    no_memory_for_sets_ = error.what();
    throw;
  }
  return index == 0 ? *fixture_ : *more_sets_[index - 1];
}

Stream& CaseOnDevice::stream() {
  if (!stream_) {
    stream_ = device_->make_stream();
    timer_ = device_->make_timer(*stream_);
  }
  return *stream_;
}

SampleTimer* CaseOnDevice::timer() {
  static_cast<void>(stream());
  return timer_.get();
}

}  // namespace attnbench
