// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/batched_graph_samples.h"

#include <fmt/format.h>

#include <utility>

#include "lib/base/error.h"
#include "lib/measure/measure.h"
#include "lib/session/backend_code.h"

namespace attnbench {
namespace {

/// A set takes a dozen allocations and a plan, 1.8 ms on an H200: no case is to wait longer than
/// some seconds for the sets of its short cells.
constexpr std::int64_t kMostSets = 2048;

}  // namespace

BatchedGraphSamples::Bound BatchedGraphSamples::bind(Fixture& fixture) const {
  fixture.poison_inputs();  // planned before its data exist
  return call_backend([&] {
    Bound bound;
    if (recorded_) {
      bound.recorded = std::make_unique<RecordedStep>(*backend_, fixture, on_device_->device());
      bound.run = run_of(bound.recorded->plan());
      return bound;
    }
    bound.memory = std::make_unique<PlanMemory>(on_device_->device());
    bound.plan = backend_->plan(fixture.batch(), *bound.memory);
    bound.run = run_of(*bound.plan);
    return bound;
  });
}

void BatchedGraphSamples::bind_all() {
  if (graph_.sets > kMostSets) {
    throw EnvironmentError(
        fmt::format("it takes {} sets of inputs to leave none of them cached, {} at most are made",
                    graph_.sets, kMostSets));
  }
  static_cast<void>(on_device_->input_set(static_cast<std::size_t>(graph_.sets - 1)));  // or none
  backend_ = call_backend([&] { return entry_->make(); });
  std::vector<const Fixture*> sets;
  try {
    for (std::int64_t set = 0; set < graph_.sets; ++set) {
      Fixture& fixture = on_device_->input_set(static_cast<std::size_t>(set));
      bound_.push_back(bind(fixture));
      fixture.fill(Fill::kTiming);
      sets.push_back(&fixture);
    }
    io_ = make_sample_io(on_device_->device(), std::move(sets));
  } catch (...) {
    bound_.clear();                                // memory for those that come after
    on_device_->input_set(0).fill(Fill::kTiming);  // other cells are timed in it
    throw;
  }
}

std::string BatchedGraphSamples::damage() {
  const std::size_t set = next_looked_at_++ % bound_.size();
  std::string damage = on_device_->damage_of(on_device_->input_set(set));
  Bound& bound = bound_[set];
  PlanMemory& memory = bound.recorded ? bound.recorded->memory() : *bound.memory;
  if (!memory.guards_intact()) {
    memory.restore_guards();
    damage += (damage.empty() ? "" : "; ") + std::string("guard bytes of the workspace changed");
  }
  return damage;
}

TimedCell BatchedGraphSamples::cell() {
  const Case& c = on_device_->case_with_layout();
  TimedCell cell;
  cell.name = fmt::format("{}/{}/{}/graph x {}", c.id, entry_->info.name, to_string(cache_),
                          graph_.forwards);
  cell.cache = cache_;
  cell.launch = LaunchMode::kGraph;
  cell.repeats = graph_.forwards;
  cell.bytes = graph_.forwards * on_device_->cost().bytes_unique;
  cell.forward = [this](Stream& stream) {
    for (std::int64_t i = 0; i < graph_.forwards; ++i) {
      bound_[static_cast<std::size_t>(i % graph_.sets)].run(stream);
    }
  };
  // Engines update once a step, not once a layer; and as many updates as there are forwards would
  // take longer than the sample.
  cell.update = [this](Stream& stream) {
    if (std::exchange(updated_, true)) return;
    for (const Bound& each : bound_) {
      if (each.recorded) update_of (*each.recorded)(stream);
    }
    stream.synchronize();
  };
  cell.inputs = {io_.get(), &on_device_->sample_numbers(), [this] { return damage(); }};
  return cell;
}

void BatchedGraphSamples::warm_up(WarmUp& first, double enough_s, double limit_s,
                                  const Stop& stop) {
  bind_all();
  samples_.emplace(cell(), real_clock(), on_device_->device(), on_device_->stream(),
                   on_device_->timer());
  samples_->warm_up(first, enough_s, limit_s, stop);
}

void BatchedGraphSamples::take(SampleBlock& block, int count, double left_s, const Stop& stop) {
  samples_->take(block, count, left_s, stop);
}

}  // namespace attnbench
