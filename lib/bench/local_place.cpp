// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/local_place.h"

#include "lib/base/error.h"

namespace attnbench {

void LocalPlace::build() {
  if (!fixture_) build_again();
}

void LocalPlace::build_again() {
  // The next backend would wait as long for the same answer.
  if (!no_memory_.empty()) throw EnvironmentError(no_memory_);
  fixture_.reset();  // first the old one's memory, then the new one's
  timing_hash_.clear();
  try {
    fixture_ = std::make_unique<Fixture>(*case_, *device_);
  } catch (const EnvironmentError& error) {
    no_memory_ = error.what();
    throw;
  }
}

Fixture& LocalPlace::fixture() {
  build();
  timing_hash_.clear();
  return *fixture_;
}

const std::string& LocalPlace::fill_for_timing() {
  build();
  if (timing_hash_.empty()) {
    fixture_->fill(Fill::kTiming);
    timing_hash_ = fixture_->hash();
  }
  return timing_hash_;
}

Stream& LocalPlace::stream() {
  if (!stream_) {
    stream_ = device_->make_stream();
    timer_ = device_->make_timer(*stream_);
  }
  return *stream_;
}

SampleTimer* LocalPlace::timer() {
  static_cast<void>(stream());
  return timer_.get();
}

}  // namespace attnbench
