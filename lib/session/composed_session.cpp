// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/composed_session.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "lib/base/counter_hash.h"
#include "lib/base/error.h"
#include "lib/fixture/joint_sample_io.h"
#include "lib/measure/device_samples.h"
#include "lib/session/case_support.h"
#include "lib/session/placed_samples.h"

namespace attnbench {
namespace {

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
  inputs_.push_back(make_joint_sample_io(std::move(inputs)));
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
