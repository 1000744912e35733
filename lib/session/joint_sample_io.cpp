// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/joint_sample_io.h"

#include <algorithm>

namespace attnbench {

void JointSampleIo::poison_outputs(Stream& stream) {
  for (SampleIo* part : parts_) part->poison_outputs(stream);
}

void JointSampleIo::rewrite_keys(std::int64_t first_number, Stream& stream) {
  for (SampleIo* part : parts_) part->rewrite_keys(first_number, stream);
}

std::int64_t JointSampleIo::stage(std::int64_t first_number, std::int64_t samples, Stream& stream) {
  std::int64_t staged = samples;
  for (SampleIo* part : parts_) {
    staged = std::min(staged, part->stage(first_number, samples, stream));
  }
  return staged;
}

void JointSampleIo::write(std::int64_t first_number, Stream& stream) {
  for (SampleIo* part : parts_) part->write(first_number, stream);
}

void JointSampleIo::collect(std::int64_t set, std::int64_t first_number, Stream& stream) {
  for (SampleIo* part : parts_) part->collect(set, first_number, stream);
}

// The parts' copies are complete only once the stream is done.
std::span<const std::byte> JointSampleIo::collected() const {
  collected_.clear();
  for (const SampleIo* part : parts_) {
    const std::span<const std::byte> rows = part->collected();
    collected_.insert(collected_.end(), rows.begin(), rows.end());
  }
  return collected_;
}

std::vector<SampleIo::Unwritten> JointSampleIo::unwritten() const {
  std::vector<Unwritten> all;
  for (const SampleIo* part : parts_) {
    const std::vector<Unwritten> found = part->unwritten();
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

}  // namespace attnbench
