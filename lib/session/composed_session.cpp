// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/composed_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "lib/base/counter_hash.h"
#include "lib/base/error.h"
#include "lib/measure/device_samples.h"
#include "lib/session/case_support.h"
#include "lib/session/placed_samples.h"

namespace attnbench {
namespace {

/// The inputs and outputs of all parts of a composed step as those of one sample: each part takes
/// the contents of the same number, and what is collected is the parts' rows one behind the other.
class JointSampleIo final : public SampleIo {
 public:
  /// They outlive it and have one set each.
  explicit JointSampleIo(std::vector<SampleIo*> parts) : parts_(std::move(parts)) {}

  [[nodiscard]] std::int64_t sets() const override { return 1; }
  void poison_outputs(Stream& stream) override {
    for (SampleIo* part : parts_) part->poison_outputs(stream);
  }
  void rewrite_keys(std::int64_t first_number, Stream& stream) override {
    for (SampleIo* part : parts_) part->rewrite_keys(first_number, stream);
  }
  [[nodiscard]] std::int64_t stage(std::int64_t first_number, std::int64_t samples,
                                   Stream& stream) override {
    std::int64_t staged = samples;
    for (SampleIo* part : parts_) {
      staged = std::min(staged, part->stage(first_number, samples, stream));
    }
    return staged;
  }
  void write(std::int64_t first_number, Stream& stream) override {
    for (SampleIo* part : parts_) part->write(first_number, stream);
  }
  void collect(std::int64_t set, std::int64_t first_number, Stream& stream) override {
    for (SampleIo* part : parts_) part->collect(set, first_number, stream);
  }
  /// The parts' copies are complete only once the stream is done.
  [[nodiscard]] std::span<const std::byte> collected() const override {
    collected_.clear();
    for (const SampleIo* part : parts_) {
      const std::span<const std::byte> rows = part->collected();
      collected_.insert(collected_.end(), rows.begin(), rows.end());
    }
    return collected_;
  }
  [[nodiscard]] std::vector<Unwritten> unwritten() const override {
    std::vector<Unwritten> all;
    for (const SampleIo* part : parts_) {
      const std::vector<Unwritten> found = part->unwritten();
      all.insert(all.end(), found.begin(), found.end());
    }
    return all;
  }

 private:
  std::vector<SampleIo*> parts_;
  mutable std::vector<std::byte> collected_;  ///< of all parts, once it was asked for
};

/// What any of the parts found, the later behind the earlier.
void add_found(std::string& all, const std::string& found) {
  if (found.empty()) return;
  all += (all.empty() ? "" : "; ") + found;
}

}  // namespace

FormatChoice ComposedSession::supports() {
  FormatChoice choice;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    choice = parts_[i]->supports();
    if (!choice) return for_part(std::move(choice), case_->parts[i]);
  }
  return choice;
}

std::vector<Numerics> ComposedSession::numerics() {
  std::vector<Numerics> all;
  for (const auto& part : parts_) all.push_back(part->numerics().front());
  return all;
}

void ComposedSession::begin_observing(const WantedRows& wanted) {
  expects(wanted.parts.size() == parts_.size(), "rows of other parts");
  for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i]->begin_observing(wanted.parts[i]);
}

Observation ComposedSession::observe() {
  Observation whole;
  for (const auto& part : parts_) {
    whole.parts.push_back(part->observe());
    if (!whole.parts.back().crash.empty()) break;
  }
  return whole;
}

void ComposedSession::repair_fixture() {
  for (const auto& part : parts_) part->repair_fixture();
}

std::string ComposedSession::fill_for_timing() {
  std::uint64_t hash = 0;
  for (const auto& part : parts_) {
    hash = combine(hash, std::stoull(part->fill_for_timing(), nullptr, 16));
  }
  return fmt::format("{:016x}", hash);
}

PlanCost ComposedSession::plan() {
  PlanCost whole;
  for (const auto& part : parts_) {
    const PlanCost cost = part->plan();
    whole.host.median_us += cost.host.median_us;
    whole.host.max_us += cost.host.max_us;
    whole.workspace_bytes += cost.workspace_bytes;
    whole.building_us += cost.building_us;
  }
  return whole;
}

IndexTiming ComposedSession::time_indices() {
  IndexTiming whole;
  for (const auto& part : parts_) {
    const IndexTiming timing = part->time_indices();
    whole.device_us += timing.device_us;
    whole.host_us += timing.host_us;
  }
  return whole;
}

TimedCell ComposedSession::cell_in(std::size_t placement, CacheState cache, LaunchMode launch) {
  std::vector<TimedCell> cells;
  for (const auto& part : parts_) cells.push_back(part->cell_in(placement, cache, launch));
  TimedCell whole;
  whole.name =
      fmt::format("{}/{}/{}/{}", case_->id, entry_->info.name, to_string(cache), to_string(launch));
  whole.cache = cache;
  whole.launch = launch;
  std::vector<Work> forwards;
  std::vector<SampleIo*> inputs;
  std::vector<std::function<std::string()>> damages;
  for (TimedCell& cell : cells) {
    whole.serving.insert(whole.serving.end(), cell.serving.begin(), cell.serving.end());
    forwards.push_back(std::move(cell.forward));
    inputs.push_back(cell.inputs.io);
    whole.bytes += cell.bytes;
    damages.push_back(std::move(cell.inputs.damage));
  }
  whole.forward = [forwards = std::move(forwards)](Stream& stream) {
    for (const Work& forward : forwards) forward(stream);
  };
  inputs_.push_back(std::make_unique<JointSampleIo>(std::move(inputs)));
  whole.inputs = {inputs_.back().get(), cells.front().inputs.numbers,
                  [damages = std::move(damages)] {
                    std::string all;
                    for (const auto& damage : damages) add_found(all, damage());
                    return all;
                  }};
  return whole;
}

std::unique_ptr<SampleSource> ComposedSession::samples(CacheState cache, LaunchMode launch) {
  CaseOnDevice& first = parts_.front()->on_device();  // whose stream all of it runs on
  std::vector<std::unique_ptr<DeviceSamples>> placements;
  for (std::size_t placement = 0; placement < parts_.front()->placements(); ++placement) {
    placements.push_back(std::make_unique<DeviceSamples>(cell_in(placement, cache, launch),
                                                         real_clock(), first.device(),
                                                         first.stream(), first.timer()));
  }
  return std::make_unique<PlacedSamples>(std::move(placements));
}

std::string ComposedSession::finish() {
  std::string all;
  for (const auto& part : parts_) add_found(all, part->finish());
  return all;
}

}  // namespace attnbench
