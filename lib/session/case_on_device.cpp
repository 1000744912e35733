// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/case_on_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lib/base/error.h"
#include "lib/fixture/memory_need.h"
#include "lib/session/placed_samples.h"

namespace attnbench {

std::int64_t most_kept_bytes(std::int64_t device_bytes, int processes) {
  return device_bytes / std::max(16, 4 * processes);
}

std::size_t CaseOnDevice::placements() const {
  if (device_->info().kind != DeviceKind::kCuda) return 1;
  return std::min(kPlacements, static_cast<std::size_t>(rounds_));
}

Fixture& CaseOnDevice::placed_fixture(std::size_t placement) {
  if (!placed_apart_) placed_apart_ = make_placed_sets();
  return *placed_apart_ ? input_set(placement) : *fixture_;
}

bool CaseOnDevice::make_placed_sets() {
  const auto more = static_cast<std::int64_t>(placements() - 1);
  if (more == 0 || memory_need(case_).tensors * more >
                       most_kept_bytes(device_->info().memory_bytes, processes_)) {
    return false;
  }
  try {
    static_cast<void>(input_set(placements() - 1));
    return true;
  } catch (const EnvironmentError&) {
    return false;  // other work holds the memory; workspaces still take turns
  }
}

void CaseOnDevice::build() {
  if (!fixture_) build_again();
}

void CaseOnDevice::build_again() {
  // Fails at once: the next backend would wait as long for the same error.
  if (!no_memory_.empty()) throw EnvironmentError(no_memory_);
  sample_io_.clear();
  fixture_.reset();  // first the old one's memory, then the new one's
  timing_hash_.clear();
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

const Fixture& CaseOnDevice::fixture_to_plan(std::size_t placement) {
  compared_.clear();
  build();
  timing_hash_.clear();
  Fixture& fixture = placed_fixture(placement);
  fixture.poison_inputs();
  return fixture;
}

const std::string& CaseOnDevice::fill_for_timing() {
  build();
  if (timing_hash_.empty()) {
    fixture_->fill(Fill::kTiming);
    for (const std::unique_ptr<Fixture>& set : more_sets_) set->fill(Fill::kTiming);
    timing_hash_ = fixture_->hash();
  }
  return timing_hash_;
}

CheckedInputs CaseOnDevice::checked_inputs(std::size_t placement) {
  Fixture& fixture = placed_fixture(placement);
  std::unique_ptr<SampleIo>& io = sample_io_[&fixture];
  if (!io) io = make_sample_io(*device_, {&fixture});
  return {io.get(), &numbers_, [this, &fixture] { return damage_of(fixture); },
          [&fixture](std::int64_t number) {
            const Case& c = fixture.fixture_case();
            const Contents contents = number > 0 ? Contents(c, number) : Contents(c, Fill::kTiming);
            std::string fault;
            // Rows of the indexer's cache explain what came of them.
            if (writes_index(c.step)) fault = fixture.fault_of_written_slots(contents);
            if (fault.empty()) fault = fixture.fault_of_arrays(contents);
            if (!fault.empty()) fixture.poison_written_slots();  // found again, it was done again
            return fault;
          }};
}

std::string CaseOnDevice::damage_of(Fixture& fixture) {
  std::string damage;
  const auto add = [&](const std::string& what) { damage += (damage.empty() ? "" : "; ") + what; };
  const std::vector<std::string> guards = fixture.damaged_guards();
  for (const std::string& name : guards) add(fmt::format("guard bytes of '{}' changed", name));
  if (!guards.empty()) fixture.restore_guards();
  const std::vector<std::string> changed = fixture.changed_inputs();
  for (const std::string& name : changed) add(fmt::format("input '{}' was modified", name));
  if (!changed.empty()) fixture.fill(Fill::kTiming);
  return damage;
}

Fixture& CaseOnDevice::input_set(std::size_t index) {
  const std::size_t before = more_sets_.size();
  if (index > before && !no_memory_for_sets_.empty()) throw EnvironmentError(no_memory_for_sets_);
  try {
    while (more_sets_.size() < index) {
      more_sets_.push_back(std::make_unique<Fixture>(*fixture_, *device_));
    }
  } catch (const EnvironmentError& error) {
    // New ones are used only when all of them exist.
    while (more_sets_.size() > before) more_sets_.pop_back();
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

std::vector<std::span<const std::byte>> serving_state(const Fixture& fixture,
                                                      const PlanMemory& plan) {
  std::vector<std::span<const std::byte>> memory = plan.all_memory();
  for (const std::span<const std::byte> index : fixture.index_memory()) memory.push_back(index);
  for (const std::span<const std::byte> input : fixture.recent_part_inputs()) {
    memory.push_back(input);
  }
  const AttentionTensors tensors = fixture.tensors();
  for (const ConstTensorView& q : {tensors.q, tensors.q_nope, tensors.q_pe}) {
    if (q.data == nullptr) continue;
    memory.emplace_back(q.data, static_cast<std::size_t>(q.size() * size_bytes(q.dtype)));
  }
  return memory;
}

}  // namespace attnbench
