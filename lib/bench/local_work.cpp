// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/local_work.h"

#include <fmt/format.h>

#include "lib/bench/backend_code.h"
#include "lib/bench/repeated_samples.h"
#include "lib/bench/serving_state.h"
#include "lib/measure/device_samples.h"
#include "lib/scenario/problem_of.h"
#include "lib/verify/step_support.h"

namespace attnbench {
namespace {

/// Planning is host work of microseconds to milliseconds; its median settles within these.
constexpr int kPlanRepeats = 20;

}  // namespace

FormatChoice LocalWork::supports() {
  if (Support step = supports_step(entry_->info, *case_); !step) return {step};
  const FormatChoice choice = of_backend([&] {
    backend_ = entry_->make();
    return choose_format(*backend_, problem_of(*case_), case_->kv_cache.layout);
  });
  if (choice) place_ = place_of_(choice.layout);
  return choice;
}

Numerics LocalWork::numerics() {
  return of_backend([&] { return backend_->numerics(problem_of(place_->place_case())); });
}

Observation LocalWork::observe(const WantedRows& wanted) {
  return observe_backend(place_->place_case(), *backend_, place_->fixture(), place_->device(),
                         wanted);
}

void LocalWork::tidy_up() {
  if (!place_->fixture().damaged_guards().empty()) place_->build_again();
}

HostTiming LocalWork::plan() {
  return of_backend([&] {
    plan_.reset();
    memory_ = std::make_unique<PlanMemory>(place_->device());
    const ForwardBatch& batch = place_->fixture_to_plan().batch();
    return time_host(
        [&] {
          plan_.reset();
          plan_ = backend_->plan(batch, *memory_);
        },
        kPlanRepeats);
  });
}

RecordedPlan LocalWork::plan_recorded() {
  return of_backend([&]() -> RecordedPlan {
    recorded_.reset();
    recorded_ =
        std::make_unique<RecordedStep>(*backend_, place_->fixture_to_plan(), place_->device());
    Stream& stream = place_->stream();
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

IndexTiming LocalWork::time_indices() {
  return time_index_builds(place_->filled_fixture(), place_->device());
}

std::unique_ptr<SampleSource> LocalWork::samples(CacheState cache, LaunchMode launch) {
  const Case& c = place_->place_case();
  TimedCell cell;
  cell.name =
      fmt::format("{}/{}/{}/{}", c.id, entry_->info.name, to_string(cache), to_string(launch));
  cell.bytes = count_cost(c).bytes_unique;
  cell.cache = cache;
  cell.launch = launch;
  RecordedStep* const recorded = launch == LaunchMode::kGraph ? recorded_.get() : nullptr;
  if (cache == CacheState::kServing) {
    cell.serving =
        serving_state(place_->filled_fixture(), recorded ? recorded->memory() : *memory_);
  }
  cell.forward = run_of(recorded ? recorded->plan() : *plan_);
  if (recorded) cell.update = update_of(*recorded);
  cell.inputs = place_->checked_inputs();
  return std::make_unique<DeviceSamples>(std::move(cell), real_clock(), place_->device(),
                                         place_->stream(), place_->timer());
}

std::unique_ptr<SampleSource> LocalWork::repeated(CacheState cache, Repeats repeats) {
  return std::make_unique<RepeatedSamples>(*entry_, place_, cache, repeats, recorded_ != nullptr);
}

std::string LocalWork::finish() {
  place_->device().make_stream()->synchronize();
  const bool intact =
      (!memory_ || memory_->guards_intact()) && (!recorded_ || recorded_->memory().guards_intact());
  return intact ? "" : "guard bytes of the workspace changed";
}

}  // namespace attnbench
