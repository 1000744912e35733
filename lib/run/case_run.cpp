// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/case_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "lib/base/counter_hash.h"
#include "lib/base/error.h"
#include "lib/device/cuda/cuda_error.h"
#include "lib/run/aa_ratio.h"
#include "lib/session/case_support.h"

namespace attnbench {
namespace {

void sleep_s(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// What a plan of so much workspace is refused with; empty where it may have it.
std::string beyond_workspace_limit(std::int64_t bytes, std::int64_t limit) {
  if (limit == 0 || bytes <= limit) return {};
  const auto mebibytes = [](std::int64_t of) { return static_cast<double>(of) / (1 << 20); };
  return fmt::format("wants {:.4g} MiB of workspace, the scenario allows {:.4g} MiB ({} and {} B)",
                     mebibytes(bytes), mebibytes(limit), bytes, limit);
}

}  // namespace

CaseRun::CaseRun(const Scenario& scenario, const PlannedCase& planned, Executor& executor,
                 std::span<RunDevice> devices, const RunHooks& hooks)
    : scenario_(&scenario),
      planned_(&planned),
      case_(&planned.c),
      executor_(&executor),
      devices_(devices),
      hooks_(&hooks),
      records_(scenario, planned, devices) {}

bool CaseRun::stop_requested() const { return hooks_->stop_requested && hooks_->stop_requested(); }

void CaseRun::tell(const std::string& what) const {
  if (hooks_->progress) hooks_->progress(what, 0);
}

bool CaseRun::anyone_runs() const { return std::ranges::any_of(candidates_, &Candidate::runs); }

void CaseRun::begin(Candidate& candidate) {
  const Registry::Entry& entry = *candidate.entry;
  if (!entry.make) return candidate.rule_out(Unsupported{entry.absence});
  candidate.device = device_of(entry, devices_);
  if (candidate.device == nullptr) {
    return candidate.rule_out(Unsupported{"no device of its kind takes part"});
  }
  if (const std::string& lost = candidate.device->lost; !lost.empty()) {
    return candidate.rule_out(Skipped{lost});
  }
  attempt(candidate, [&] {
    candidate.session = executor_->begin(*case_, entry, scenario_->measure.max_rounds);
  });
}

void CaseRun::consider(Candidate& candidate) {
  if (!candidate.runs() || candidate.session == nullptr) return;
  const Registry::Entry& entry = *candidate.entry;
  attempt(candidate, [&] {
    const FormatChoice choice = candidate.session->supports();
    if (!choice) return candidate.rule_out(Unsupported{choice.support.reason()});
    candidate.layout = choice.layout;
    candidate.numerics = candidate.session->numerics();
    const std::string looser = refusal_by_at_most(scenario_->verify, candidate.numerics);
    if (!looser.empty()) return candidate.rule_out(Unsupported{looser});
    const auto& launches = scenario_->measure.launch;
    const auto takes = [&](LaunchMode each) {
      return takes_launch(*case_, scenario_->measure, entry, each);
    };
    if (std::ranges::none_of(launches, [&](LaunchMode each) { return bool(takes(each)); })) {
      candidate.rule_out(Unsupported{takes(launches.front()).reason()});
    }
  });
}

void CaseRun::attempt(Candidate& candidate, const std::function<void()>& step) {
  try {
    step();
  } catch (const RunStopped&) {  // the next look at stop_requested() ends the case
  } catch (const BackendFailed& failure) {
    // Earlier timings are kept.
    if (candidate.runs() && candidate.timings.empty()) {
      candidate.rule_out(Crashed{failure.what()});
    }
  } catch (const CudaError& error) {
    lose(*candidate.device, fmt::format("the GPU was lost: {}", error.what()));
  } catch (...) {
    candidate.end_for_current_exception();
  }
}

void CaseRun::attempt_for_all(const std::function<void()>& step) {
  try {
    step();
  } catch (const RunStopped&) {  // what is not timed is "interrupted"
  } catch (...) {
    for (Candidate& candidate : candidates_) candidate.end_for_current_exception();
  }
}

void CaseRun::lose(RunDevice& device, const std::string& trouble) {
  device.lost = trouble;
  for (Candidate& candidate : candidates_) {
    if (candidate.runs() && candidate.device == &device && candidate.timings.empty()) {
      candidate.rule_out(Skipped{trouble});
    }
  }
}

void CaseRun::for_all_that_run(const std::function<void(Candidate&)>& step) {
  for (Candidate& candidate : candidates_) {
    if (stop_requested()) return;
    if (candidate.runs()) attempt(candidate, [&] { step(candidate); });
  }
}

void CaseRun::for_all_on(RunDevice& device, const std::function<void(Candidate&)>& step) {
  for_all_that_run([&](Candidate& candidate) {
    if (candidate.device == &device) step(candidate);
  });
}

void CaseRun::verify() {
  if (!scenario_->verify.enabled || !anyone_runs() || stop_requested()) return;
  const StepTruths truth = [&] {
    tell("computing the float64 reference");
    const Lap lap(spent_.reference);
    return compute_step_truths(*case_, scenario_->verify);
  }();
  const WantedRows wanted = wanted_rows(
      truth, scenario_->verify.batch_invariant_required ? VerifyConfig::kCompositions : 0);
  for_all_that_run([&](Candidate& candidate) { candidate.session->begin_observing(wanted); });
  for_all_that_run([&](Candidate& candidate) {
    tell(fmt::format("{} · verifying", candidate.entry->info.name));
    observe(candidate, truth);
    if (candidate.verification.verdict == Verdict::kCrashed) {
      candidate.rule_out(Crashed{candidate.verification.reason});
    }
    const Lap lap(spent_.building);
    candidate.session->repair_fixture();
  });
}

void CaseRun::observe(Candidate& candidate, const StepTruths& truth) {
  Lap lap(spent_.verifying);
  const Observation found = candidate.session->observe();
  candidate.verification = conclude(*case_, found, truth);
  for (const Observation& part : found.parts.empty() ? std::span(&found, 1) : found.parts) {
    lap.give(part.first_use_us / 1e6, spent_.first_use);
    lap.give(part.building_us / 1e6, spent_.building);
  }
}

void CaseRun::plan(RunDevice& device) {
  const MeasureConfig& measure = scenario_->measure;
  const bool replays =
      std::ranges::find(measure.launch, LaunchMode::kGraph) != measure.launch.end();
  for_all_on(device, [&](Candidate& candidate) {
    Lap lap(spent_.planning);
    candidate.plan = candidate.session->plan();
    lap.give(candidate.plan.building_us / 1e6, spent_.building);
    const std::string beyond =
        beyond_workspace_limit(candidate.plan.workspace_bytes, measure.workspace_limit);
    if (!beyond.empty()) return candidate.rule_out(Skipped{beyond});
    const Registry::Entry& entry = *candidate.entry;
    if (replays && takes_launch(*case_, measure, entry, LaunchMode::kGraph) &&
        !is_forced(*case_, measure, entry, LaunchMode::kGraph)) {
      RecordedPlan& recorded = candidate.recorded;
      recorded = candidate.session->plan_recorded();
      const std::string too_much =
          beyond_workspace_limit(recorded.workspace_bytes, measure.workspace_limit);
      if (recorded.refusal.empty() && !too_much.empty()) recorded.refusal = "graph: " + too_much;
    }
  });
}

void CaseRun::fill_for_timing(RunDevice& device) {
  for_all_on(device, [&](Candidate& candidate) {
    const Lap lap(spent_.building);
    const std::string hash = candidate.session->fill_for_timing();
    expects(fixture_hash_.empty() || fixture_hash_ == hash,
            "two devices or layouts hold different contents of one case");
    fixture_hash_ = hash;
  });
}

std::unique_ptr<CheckedSamples> CaseRun::watched(std::unique_ptr<SampleSource> samples) {
  const std::uint64_t seed = combine(combine(case_->seed, 3), cells_watched_++);
  return std::make_unique<CheckedSamples>(std::move(samples), seed, sleep_s);
}

std::vector<SampleChecks> CaseRun::checked(std::span<const CheckedCell> cells) {
  if (!scenario_->verify.enabled) return std::vector<SampleChecks>(cells.size());
  tell("comparing timed samples with the reference");
  const Lap lap(spent_.reference);
  return check_timed_samples(*case_, cells);
}

CaseRun::Cells CaseRun::cells_on(RunDevice& device) {
  const Lap lap(spent_.planning);
  Cells all;
  device.index = {};
  for_all_on(device, [&](Candidate& candidate) {
    if (device.info.kind == DeviceKind::kCuda && device.index.host_us == 0) {
      device.index = candidate.session->time_indices();
    }
    for (const LaunchMode launch : scenario_->measure.launch) {
      if (!takes_launch(*case_, scenario_->measure, candidate, launch)) continue;
      for (const CacheState cache : scenario_->measure.cache) {
        all.cells.push_back(
            {&candidate, cache, launch, watched(candidate.session->samples(cache, launch))});
      }
    }
  });
  for (const Cell& cell : all.cells) {
    all.sourced.push_back(
        {fmt::format("{} · {}", cell.owner->entry->info.name, to_string(cell.cache)),
         cell.samples.get()});
    all.to_check.push_back(
        {cell.samples.get(), cell.owner->numerics,
         cell.launch == LaunchMode::kGraph ? "the graph" : "the eager launches"});
  }
  return all;
}

void CaseRun::time_on(RunDevice& device) {
  plan(device);
  fill_for_timing(device);
  const auto [cells, sourced, to_check] = cells_on(device);
  if (cells.empty() || stop_requested()) return;
  const std::vector<CellTiming> timings = measure(sourced, 1);
  const std::vector<SampleChecks> checks = checked(to_check);
  for (std::size_t i = 0; i < timings.size(); ++i) {
    cells[i].owner->timings.push_back({cells[i].cache, cells[i].launch, timings[i], checks[i]});
  }
  time_batched_graphs(device);
  finish(device, cells);
}

void CaseRun::finish(RunDevice& device, std::span<const Cell> cells) {
  for_all_on(device, [&](Candidate& candidate) {
    const std::string found = candidate.session->finish();
    if (found.empty()) return;
    const std::string damage = found + " while it was timed";
    const bool again = damages_again(candidate, cells);
    for (CandidateTiming& each : candidate.timings) {
      std::string& to = again ? each.checks.fault : each.checks.doubt;
      if (to.empty()) to = again ? damage : text_of_odd_damage(damage, "visit");
    }
  });
}

bool CaseRun::damages_again(Candidate& candidate, std::span<const Cell> cells) {
  const SampleSource::Stop stop = [this] { return stop_requested(); };
  for (const double wait_s : kWaitsBeforeRepetition_s) {
    sleep_s(wait_s);
    for (const Cell& cell : cells) {
      if (cell.owner != &candidate || !cell.samples->damage().empty()) continue;
      if (cell.samples->kept().empty()) continue;  // it never came to a sample
      SampleBlock block;
      cell.samples->take(block, 1, 0, stop);
    }
    if (candidate.session->finish().empty()) return false;
  }
  return true;
}

void CaseRun::time_batched_graphs(RunDevice& device) {
  if (device.info.kind != DeviceKind::kCuda) return;
  // A smoke test (--quick): the sets of inputs would take a hundred times as long as all the rest.
  if (scenario_->measure.max_block_samples == 1) return;
  std::vector<std::unique_ptr<CheckedSamples>> samples;
  std::vector<SourcedCell> sourced;
  std::vector<CheckedCell> to_check;
  std::vector<CandidateTiming*> found;
  for_all_on(device, [&](Candidate& candidate) {
    if (is_failure(candidate.verification.verdict)) return;
    for (CandidateTiming& each : candidate.timings) {
      if (each.launch != LaunchMode::kGraph || each.timing.samples == 0) continue;
      if (!each.timing.failure.empty() || each.timing.median_us >= kShortUs) continue;
      BatchedGraph& graph = each.graph_n.graph;
      graph = batched_graph_for(*case_, each.cache, planned_->cost.bytes_unique,
                                device.info.last_level_cache_bytes);
      if (!each.graph_n.tried()) continue;
      samples.push_back(watched(candidate.session->batched_samples(each.cache, graph)));
      sourced.push_back({fmt::format("{} · {} · graph×{}", candidate.entry->info.name,
                                     to_string(each.cache), graph.forwards),
                         samples.back().get(), graph.forwards});
      to_check.push_back(
          {samples.back().get(), candidate.numerics, fmt::format("the graph×{}", graph.forwards)});
      found.push_back(&each);
    }
  });
  const std::vector<CellTiming> timings = measure(sourced, 2);
  const std::vector<SampleChecks> checks = checked(to_check);
  for (std::size_t i = 0; i < timings.size(); ++i) {
    found[i]->graph_n.timing = timings[i];
    if (found[i]->checks.fault.empty()) found[i]->checks.fault = checks[i].fault;
    if (found[i]->checks.doubt.empty()) found[i]->checks.doubt = checks[i].doubt;
  }
}

std::vector<CellTiming> CaseRun::measure(std::span<const SourcedCell> cells, std::uint64_t stream) {
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
  Lap lap(spent_.around_samples);
  std::vector<CellTiming> timings =
      measure_in_rounds(cells, scenario_->measure, combine(case_->seed, stream), hooks);
  for (const CellTiming& timing : timings) lap.give(timing.sampled_s, spent_.samples);
  return timings;
}

void CaseRun::work() {
  verify();
  for (RunDevice& device : devices_) {
    if (!stop_requested()) time_on(device);
  }
}

std::vector<Record> CaseRun::run(TimeAccount& spent, const ProcessorLoad& load) {
  const std::vector<const Registry::Entry*>& entries = planned_->backends;
  candidates_.resize(entries.size());
  {
    const Lap lap(spent_.starting);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      candidates_[i].entry = entries[i];
      begin(candidates_[i]);
    }
    for (Candidate& candidate : candidates_) consider(candidate);
  }
  attempt_for_all([&] { work(); });
  add(spent, spent_);

  const OtherPrograms others = load.others();
  std::vector<Record> records;
  for (const Candidate& candidate : candidates_) {
    for (const LaunchMode launch : scenario_->measure.launch) {
      for (const CacheState cache : scenario_->measure.cache) {
        records.push_back(records_.record_of(candidate, cache, launch, fixture_hash_));
        records.back().others = others;
        add_aa_ratio(records);
        if (hooks_->record) hooks_->record(records.back());
      }
    }
  }
  return records;
}

}  // namespace attnbench
