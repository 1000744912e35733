// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/local_session.h"

#include <fmt/format.h>

#include "lib/measure/device_samples.h"
#include "lib/scenario/problem_of.h"
#include "lib/session/backend_code.h"
#include "lib/session/batched_graph_samples.h"
#include "lib/session/serving_state.h"
#include "lib/verify/step_support.h"

namespace attnbench {
namespace {

/// Planning is host work of microseconds to milliseconds; its median settles within these.
constexpr int kPlanRepeats = 20;

}  // namespace

FormatChoice LocalSession::supports() {
  if (Support step = supports_step(entry_->info, *case_); !step) return {step};
  const FormatChoice choice = of_backend([&] {
    backend_ = entry_->make();
    return choose_format(*backend_, problem_of(*case_), case_->kv_cache.layout);
  });
  if (choice) on_device_ = on_device_of_(choice.layout);
  return choice;
}

Numerics LocalSession::numerics() {
  return of_backend([&] { return backend_->numerics(problem_of(on_device_->case_with_layout())); });
}

Observation LocalSession::observe(const WantedRows& wanted) {
  return observe_backend(on_device_->case_with_layout(), *backend_, on_device_->fixture(),
                         on_device_->device(), wanted);
}

void LocalSession::tidy_up() {
  if (!on_device_->fixture().damaged_guards().empty()) on_device_->build_again();
}

HostTiming LocalSession::plan() {
  return of_backend([&] {
    plan_.reset();
    memory_ = std::make_unique<PlanMemory>(on_device_->device());
    const ForwardBatch& batch = on_device_->fixture_to_plan().batch();
    return time_host(
        [&] {
          plan_.reset();
          plan_ = backend_->plan(batch, *memory_);
        },
        kPlanRepeats);
  });
}

RecordedPlan LocalSession::plan_recorded() {
  return of_backend([&]() -> RecordedPlan {
    recorded_.reset();
    recorded_ = std::make_unique<RecordedStep>(*backend_, on_device_->fixture_to_plan(),
                                               on_device_->device());
    Stream& stream = on_device_->stream();
    if (!recorded_->update(stream)) {
      recorded_.reset();
      return {{}, "no CUDA graph: its plan cannot be updated to the next step"};
    }
    const HostTiming update =
        time_host([&] { static_cast<void>(recorded_->update(stream)); }, kPlanRepeats);
    stream.synchronize();
    return {update, {}};
  });
}

IndexTiming LocalSession::time_indices() {
  return time_index_builds(on_device_->filled_fixture(), on_device_->device());
}

std::unique_ptr<SampleSource> LocalSession::samples(CacheState cache, LaunchMode launch) {
  const Case& c = on_device_->case_with_layout();
  TimedCell cell;
  cell.name =
      fmt::format("{}/{}/{}/{}", c.id, entry_->info.name, to_string(cache), to_string(launch));
  cell.bytes = count_cost(c).bytes_unique;
  cell.cache = cache;
  cell.launch = launch;
  RecordedStep* const recorded = launch == LaunchMode::kGraph ? recorded_.get() : nullptr;
  if (cache == CacheState::kServing) {
    cell.serving =
        serving_state(on_device_->filled_fixture(), recorded ? recorded->memory() : *memory_);
  }
  cell.forward = run_of(recorded ? recorded->plan() : *plan_);
  if (recorded) cell.update = update_of(*recorded);
  cell.inputs = on_device_->checked_inputs();
  return std::make_unique<DeviceSamples>(std::move(cell), real_clock(), on_device_->device(),
                                         on_device_->stream(), on_device_->timer());
}

std::unique_ptr<SampleSource> LocalSession::batched_samples(CacheState cache, BatchedGraph graph) {
  return std::make_unique<BatchedGraphSamples>(*entry_, on_device_, cache, graph,
                                               recorded_ != nullptr);
}

std::string LocalSession::finish() {
  on_device_->device().make_stream()->synchronize();
  const bool intact =
      (!memory_ || memory_->guards_intact()) && (!recorded_ || recorded_->memory().guards_intact());
  return intact ? "" : "guard bytes of the workspace changed";
}

}  // namespace attnbench
