// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/case_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "lib/base/counter_hash.h"
#include "lib/base/error.h"
#include "lib/device/cuda/cuda_error.h"

namespace attnbench {
namespace {

/// Planning is host work of microseconds to milliseconds; its median settles within these.
constexpr int kPlanRepeats = 20;

}  // namespace

CaseRun::CaseRun(const Scenario& scenario, const Case& c, const Cost& cost,
                 std::span<RunDevice> devices, const RunHooks& hooks)
    : scenario_(&scenario), case_(&c), cost_(cost), hooks_(&hooks) {
  for (RunDevice& device : devices) places_.push_back({&device, nullptr});
}

bool CaseRun::stop_requested() const { return hooks_->stop_requested && hooks_->stop_requested(); }

void CaseRun::tell(const std::string& what) const {
  if (hooks_->progress) hooks_->progress(what, 0);
}

CaseRun::Place* CaseRun::place_of(const Registry::Entry& entry) {
  for (Place& place : places_) {
    if (place.on->device->info().kind == entry.info.device) return &place;
  }
  return nullptr;
}

bool CaseRun::anyone_runs_on(const Place& place) const {
  return std::ranges::any_of(candidates_,
                             [&](const Candidate& c) { return c.runs && c.place == &place; });
}

void CaseRun::rule_out(Candidate& candidate, Verdict verdict, std::string reason) const {
  candidate.verification.verdict = verdict;
  candidate.verification.reason = std::move(reason);
  candidate.runs = false;
}

void CaseRun::consider(Candidate& candidate) {
  const Registry::Entry& entry = *candidate.entry;
  if (!entry.make) return rule_out(candidate, Verdict::kUnsupported, entry.absence);
  candidate.place = place_of(entry);
  if (candidate.place == nullptr) {
    return rule_out(candidate, Verdict::kUnsupported, "no device of its kind takes part");
  }
  if (const std::string& lost = candidate.place->on->lost; !lost.empty()) {
    return rule_out(candidate, Verdict::kSkipped, lost);
  }
  try {
    candidate.backend = entry.make();
    const Support support = candidate.backend->supports(*case_, *candidate.place->on->device);
    candidate.runs = static_cast<bool>(support);
    if (!support) rule_out(candidate, Verdict::kUnsupported, support.reason());
  } catch (const std::exception& error) {
    rule_out(candidate, Verdict::kCrashed, error.what());
  }
}

void CaseRun::on_place(Place& place, const std::function<void()>& work) {
  std::string trouble;
  try {
    work();
    return;
  } catch (const EnvironmentError& error) {
    trouble = error.what();
  } catch (const CudaError& error) {
    trouble = place.on->lost = fmt::format("the GPU was lost: {}", error.what());
  }
  for (Candidate& candidate : candidates_) {
    if (candidate.runs && candidate.place == &place) {
      rule_out(candidate, Verdict::kSkipped, trouble);
    }
  }
}

void CaseRun::build_fixture(Place& place) {
  place.fixture.reset();  // first the old one's memory, then the new one's
  place.fixture = std::make_unique<Fixture>(*case_, *place.on->device);
}

void CaseRun::build_fixtures() {
  for (Place& place : places_) {
    if (anyone_runs_on(place)) on_place(place, [&] { build_fixture(place); });
  }
}

void CaseRun::verify() {
  if (!scenario_->verify.enabled) return;
  if (std::ranges::none_of(candidates_, &Candidate::runs)) return;
  tell("computing the float64 reference");
  const std::vector<FillTruth> truth = compute_truth(*case_, scenario_->verify);
  for (Candidate& candidate : candidates_) {
    if (!candidate.runs) continue;
    if (stop_requested()) return;
    tell(fmt::format("{} · verifying", candidate.entry->info.name));
    Place& place = *candidate.place;
    on_place(place, [&] {
      candidate.verification =
          verify_backend(*case_, *candidate.backend, *place.fixture, *place.on->device, truth);
      if (candidate.verification.verdict == Verdict::kCrashed) candidate.runs = false;
      // A backend that wrote out of bounds is reported; the next one starts on clean memory.
      if (!place.fixture->damaged_guards().empty()) build_fixture(place);
    });
  }
}

void CaseRun::fill_for_timing() {
  for (Place& place : places_) {
    if (!anyone_runs_on(place)) continue;
    on_place(place, [&] {
      place.fixture->fill(Fill::kTiming);
      const std::string hash = place.fixture->hash();
      expects(fixture_hash_.empty() || fixture_hash_ == hash,
              "two devices hold different contents of one case");
      fixture_hash_ = hash;
    });
  }
}

void CaseRun::plan(Candidate& candidate) {
  Place& place = *candidate.place;
  try {
    candidate.workspace = std::make_unique<Workspace>(*place.on->device);
    candidate.plan = time_host(
        [&] {
          candidate.backend->init_forward_metadata(place.fixture->batch(), case_->layer,
                                                   *candidate.workspace);
        },
        kPlanRepeats);
  } catch (const std::exception& error) {
    rule_out(candidate, Verdict::kCrashed, error.what());
  }
}

void CaseRun::note_timing(Candidate& candidate, Timing timing) {
  if (timing.timing.status == MeasureStatus::kFailed) {
    rule_out(candidate, Verdict::kCrashed, "while timed: " + timing.timing.failure);
  }
  candidate.timings.push_back(std::move(timing));
}

void CaseRun::time_on(Place& place) {
  std::vector<TimedCell> cells;
  std::vector<Candidate*> owners;
  const AttentionIo io = place.fixture->io();
  const bool has_graphs = place.on->device->info().kind == DeviceKind::kCuda;
  for (Candidate& candidate : candidates_) {
    if (candidate.place != &place) continue;
    if (candidate.runs) plan(candidate);
    if (!candidate.runs) continue;
    for (const LaunchMode launch : scenario_->measure.launch) {
      if (launch == LaunchMode::kGraph && !has_graphs) continue;
      for (const CacheState cache : scenario_->measure.cache) {
        TimedCell cell;
        cell.name = fmt::format("{} · {}", candidate.entry->info.name, to_string(cache));
        cell.cache = cache;
        cell.launch = launch;
        // An exception ends this backend's cells only, whatever its kind.
        cell.forward = [backend = candidate.backend.get(), io](Stream& stream) {
          try {
            backend->forward(io, stream);
          } catch (const std::logic_error& error) {
            throw std::runtime_error(error.what());
          }
        };
        cells.push_back(std::move(cell));
        owners.push_back(&candidate);
      }
    }
  }
  if (cells.empty()) return;

  MeasureHooks hooks;
  hooks.stop_requested = hooks_->stop_requested;
  if (hooks_->progress) {
    hooks.progress = [&](const MeasureProgress& p) {
      std::string line = fmt::format("{} · round {}", p.cell, p.round);
      if (p.half_width > 0) {
        line += fmt::format(" · ±{:.1f} % → {:.1f} %", p.half_width * 100,
                            scenario_->measure.precision * 100);
      }
      hooks_->progress(line, p.remaining_s);
    };
  }
  const std::vector<CellTiming> timings =
      measure_cells(cells, *place.on->device, scenario_->measure, combine(case_->seed, 1), hooks);
  for (std::size_t i = 0; i < timings.size(); ++i) {
    note_timing(*owners[i], {cells[i].cache, cells[i].launch, timings[i]});
  }
  place.on->device->make_stream()->synchronize();  // shows whether a failure cost the device
}

void CaseRun::time() {
  for (Place& place : places_) {
    if (stop_requested()) return;
    if (anyone_runs_on(place)) on_place(place, [&] { time_on(place); });
  }
}

std::vector<Record> CaseRun::run(std::span<const Registry::Entry* const> entries,
                                 double& measuring_s) {
  candidates_.resize(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    candidates_[i].entry = entries[i];
    consider(candidates_[i]);
  }
  build_fixtures();
  verify();
  if (!stop_requested()) {
    fill_for_timing();
    const auto begin = std::chrono::steady_clock::now();
    time();
    measuring_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  std::vector<Record> records;
  for (const Candidate& candidate : candidates_) {
    for (const LaunchMode launch : scenario_->measure.launch) {
      for (const CacheState cache : scenario_->measure.cache) {
        records.push_back(make_record(candidate, cache, launch));
        if (hooks_->record) hooks_->record(records.back());
      }
    }
  }
  return records;
}

}  // namespace attnbench
