// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/local_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/fixture/memory_need.h"
#include "lib/measure/device_samples.h"
#include "lib/scenario/problem_of.h"
#include "lib/session/backend_code.h"
#include "lib/session/batched_graph_samples.h"
#include "lib/session/case_on_device.h"
#include "lib/session/placed_samples.h"
#include "lib/verify/step_support.h"

namespace attnbench {
namespace {

/// Planning is host work of microseconds to milliseconds; its median settles within these.
constexpr int kPlanRepeats = 20;

}  // namespace

FormatChoice LocalSession::supports() {
  if (Support step = supports_step(entry_->info, *case_); !step) return {step};
  FormatChoice choice = call_backend([&] {
    backend_ = entry_->make();
    return choose_format(*backend_, problem_of(*case_), case_->kv_cache.layout);
  });
  if (!choice) return choice;
  on_device_ = on_device_of_(choice.layout);
  // Before anything is generated: the reference of a context that is too long takes minutes.
  refuse_beyond_memory(on_device_->case_with_layout(), on_device_->device());
  return choice;
}

std::vector<Numerics> LocalSession::numerics() {
  return {
      call_backend([&] { return backend_->numerics(problem_of(on_device_->case_with_layout())); })};
}

Observation LocalSession::observe() {
  Fixture* fixture = nullptr;
  const double building_us = time_host([&] { fixture = &on_device_->fixture(); }, 1).max_us;
  Observation found =
      observe_backend(on_device_->case_with_layout(), *backend_, *fixture, on_device_->device(),
                      *wanted_, on_device_->compared_fixtures(), true);
  found.building_us += building_us;
  left_damage_ = !found.faults.empty() || !found.odd_damage.empty();
  return found;
}

void LocalSession::repair_fixture() {
  if (std::exchange(left_damage_, false)) on_device_->build_again();
}

PlanCost LocalSession::plan() {
  recorded_.clear();
  planned_.clear();
  PlanCost cost;
  for (std::size_t placement = 0; placement < on_device_->placements(); ++placement) {
    const Fixture* fixture = nullptr;
    cost.building_us +=
        time_host([&] { fixture = &on_device_->fixture_to_plan(placement); }, 1).max_us;
    const ForwardBatch& batch = fixture->batch();
    planned_.emplace_back();
    Planned& planned = planned_.back();
    const auto plan = [&] {
      planned.plan.reset();
      planned.plan = backend_->plan(batch, *planned.memory);
    };
    call_backend([&] {
      planned.memory = std::make_unique<PlanMemory>(on_device_->device());
      if (placement == 0) {
        cost.host = time_host(plan, kPlanRepeats);
        cost.workspace_bytes = planned.memory->workspace_bytes();
      } else {
        plan();
      }
    });
  }
  return cost;
}

RecordedPlan LocalSession::plan_recorded() {
  recorded_.clear();
  RecordedPlan result;
  if (!is_recorded_on_padding(*case_, entry_->info)) return result;
  Stream& stream = on_device_->stream();
  for (std::size_t placement = 0; placement < planned_.size(); ++placement) {
    const Fixture& fixture = on_device_->fixture_to_plan(placement);
    call_backend([&] {
      auto step = std::make_unique<RecordedStep>(*backend_, fixture, on_device_->device());
      if (!step->update(stream)) {
        result.refusal = "no CUDA graph: its plan cannot be updated to the next step";
        return;
      }
      if (placement == 0) {
        result.workspace_bytes = step->memory().workspace_bytes();
        result.update = time_host([&] { static_cast<void>(step->update(stream)); }, kPlanRepeats);
      }
      stream.synchronize();
      recorded_.push_back(std::move(step));
    });
    if (!result.refusal.empty()) {
      recorded_.clear();
      break;
    }
  }
  return result;
}

IndexTiming LocalSession::time_indices() {
  return time_index_builds(on_device_->filled_fixture(), on_device_->device());
}

TimedCell LocalSession::cell_in(std::size_t placement, CacheState cache, LaunchMode launch) {
  const Case& c = on_device_->case_with_layout();
  TimedCell cell;
  cell.name =
      fmt::format("{}/{}/{}/{}", c.id, entry_->info.name, to_string(cache), to_string(launch));
  cell.bytes = on_device_->cost().bytes_unique;
  cell.cache = cache;
  cell.launch = launch;
  const bool replayed = launch == LaunchMode::kGraph && !recorded_.empty();
  RecordedStep* const recorded = replayed ? recorded_[placement].get() : nullptr;
  if (cache == CacheState::kServing) {
    cell.serving = serving_state(on_device_->placed_fixture(placement),
                                 recorded ? recorded->memory() : *planned_[placement].memory);
  }
  cell.forward = run_of(recorded ? recorded->plan() : *planned_[placement].plan);
  if (recorded) cell.update = update_of(*recorded);
  cell.inputs = on_device_->checked_inputs(placement);
  return cell;
}

std::unique_ptr<SampleSource> LocalSession::samples(CacheState cache, LaunchMode launch) {
  std::vector<std::unique_ptr<DeviceSamples>> placements;
  for (std::size_t placement = 0; placement < planned_.size(); ++placement) {
    placements.push_back(std::make_unique<DeviceSamples>(
        cell_in(placement, cache, launch), real_clock(), on_device_->device(), on_device_->stream(),
        on_device_->timer()));
  }
  return std::make_unique<PlacedSamples>(std::move(placements));
}

std::unique_ptr<SampleSource> LocalSession::batched_samples(CacheState cache, BatchedGraph graph) {
  return std::make_unique<BatchedGraphSamples>(*entry_, on_device_, cache, graph,
                                               !recorded_.empty());
}

std::string LocalSession::finish() {
  on_device_->device().make_stream()->synchronize();
  std::vector<PlanMemory*> workspaces;
  for (const Planned& each : planned_) workspaces.push_back(each.memory.get());
  for (const auto& each : recorded_) workspaces.push_back(&each->memory());
  const bool intact =
      std::ranges::all_of(workspaces, [](const PlanMemory* each) { return each->guards_intact(); });
  for (PlanMemory* const each : workspaces) each->restore_guards();
  return intact ? "" : "guard bytes of the workspace changed";
}

}  // namespace attnbench
