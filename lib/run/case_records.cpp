// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/case_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "lib/backend/backend_info.h"
#include "lib/backend/numerics.h"
#include "lib/base/error.h"
#include "lib/cost/cost.h"
#include "lib/measure/statistics.h"
#include "lib/result/record_text.h"
#include "lib/run/chosen_by_engines.h"
#include "lib/scenario/problem_of.h"
#include "lib/session/recorded_step.h"

namespace attnbench {
namespace {

/// By entry of the batch, whose requests need not stand together.
std::vector<RequestGroup> groups_of(const Case& c) {
  std::vector<RequestGroup> groups;
  for (const Request& request : c.requests) {
    auto group = std::ranges::find(groups, request.group, &RequestGroup::name);
    if (group == groups.end()) group = groups.insert(group, {request.group});
    ++group->requests;
    group->q_tokens += request.q_len;
    group->kv_tokens += request.kv_len;
  }
  return groups;
}

constexpr const char* kInterrupted = "interrupted";

/// Bytes that memory itself had to deliver. Data that stay in a cache between samples may be read
/// faster than memory can deliver them.
std::int64_t bytes_from_memory(const Cost& cost, CacheState cache) {
  switch (cache) {
    case CacheState::kCold:
      return cost.bytes_unique - cost.kv_bytes_written;
    case CacheState::kServing:
      return cost.kv_bytes_unique - cost.kv_bytes_written;
    case CacheState::kWarm:
      return 0;
  }
  return 0;
}

/// Which part of the work was faster than a measured ceiling of the device; empty when none was.
std::string beyond_ceilings(const Cost& cost, CacheState cache, const Ceilings& ceilings,
                            double seconds) {
  const std::int64_t bytes = bytes_from_memory(cost, cache);
  if (exceeds(bytes, ceilings.read_bytes_per_s, seconds)) {
    return fmt::format(
        "{:.1f} GB/s from memory is above 1.02 x the measured read ceiling of {:.1f} GB/s: byte "
        "count, cache flush or kernel is wrong, or the machine was busy while the ceiling was "
        "measured",
        static_cast<double>(bytes) / seconds / 1e9, ceilings.read_bytes_per_s / 1e9);
  }
  if (exceeds(cost.flops, ceilings.flop_per_s, seconds)) {
    return fmt::format(
        "{:.1f} GFLOP/s is above 1.02 x the measured ceiling of {:.1f} GFLOP/s: operation count or "
        "kernel is wrong, or the machine was busy while the ceiling was measured",
        static_cast<double>(cost.flops) / seconds / 1e9, ceilings.flop_per_s / 1e9);
  }
  return {};
}

/// The numerics of all that takes part in the case: the products of an indexer are of e4m3.
std::vector<Numerics> all_numerics(const Case& c, const Candidate& candidate) {
  std::vector<Numerics> all = candidate.numerics;
  if (is_pipeline(c.step)) all.push_back({.qk_input = DType::kE4M3});
  return all;
}

/// Both, where both are known.
std::string joined(const std::string& first, const std::string& second) {
  return first + (first.empty() || second.empty() ? "" : "; ") + second;
}

/// Of a cell whose kernel may have found in the cache what other work had read; empty of any other.
std::string disturbance(const CellTiming& timing) {
  constexpr double kMostDisturbed = 0.25;  // fewer hardly move a median
  const int taken = timing.samples + timing.discarded;
  if (timing.disturbed <= kMostDisturbed * taken) return {};
  return fmt::format(
      "the GPU ran other work while {} of {} samples were made ready: the backend's own on another "
      "stream, or another program's",
      timing.disturbed, taken);
}

/// Of a cell whose process counted less time than passed; empty of any other.
std::string slowness_of_clock(const CellTiming& timing) {
  const SlowClock& slow = timing.slow_clock;
  if (!timing.clock_was_slow()) return {};
  return fmt::format(
      "its process counted {:.3g} ms where {:.3g} ms passed, in {} of {} visits: its clock was "
      "slowed, or it went on when its samples were taken",
      slow.process_s * 1e3, slow.run_s * 1e3, slow.visits, timing.rounds);
}

/// "scaled dot product attention: engine 5": the operation, and what its library chose for a plan.
std::string kernel_text(const std::string& operation, const std::string& chosen) {
  return operation + (operation.empty() || chosen.empty() ? "" : ": ") + chosen;
}

/// Of a verdict that is neither a failure nor a refusal.
Check check_of(Verdict verdict) {
  if (verdict == Verdict::kPassed) return Check::kPassed;
  if (verdict == Verdict::kMistrusted) return Check::kMistrusted;
  expects(verdict == Verdict::kNotVerified, "a cell is accepted that is not");
  return Check::kNotVerified;
}

DeclaredFacts declared_facts(std::span<const Numerics> of_steps) {
  if (of_steps.empty()) return {};
  const Numerics declared = loosest(of_steps);
  return {.qk_input = std::string(to_string(declared.qk_input)),
          .p = std::string(to_string(declared.p)),
          .accumulator = std::string(to_string(declared.accumulator)),
          .partial_out = std::string(to_string(declared.partial_out)),
          .partial_roundings = declared.partial_roundings,
          .lse = declared.lse};
}

/// Of the plan that such launches run, once the candidate has planned.
std::int64_t workspace_of(const Candidate& candidate, LaunchMode launch) {
  const bool recorded = launch == LaunchMode::kGraph && candidate.recorded.update.median_us > 0;
  return recorded ? candidate.recorded.workspace_bytes : candidate.plan.workspace_bytes;
}

}  // namespace

bool is_forced(const Case& c, const MeasureConfig& measure, const Registry::Entry& entry,
               LaunchMode launch) {
  return measure.force_graph && launch == LaunchMode::kGraph &&
         entry.info.device == DeviceKind::kCuda && !supports_cuda_graph(entry.info, problem_of(c));
}

Support takes_launch(const Case& c, const MeasureConfig& measure, const Registry::Entry& entry,
                     LaunchMode launch) {
  if (launch == LaunchMode::kEager || is_forced(c, measure, entry, launch)) return Support::yes();
  const Support claimed = supports_cuda_graph(entry.info, problem_of(c));
  if (!claimed || !is_recorded_on_padding(c, entry.info) || !exceeds_graph_buckets(c, measure)) {
    return claimed;
  }
  return Support::no(fmt::format("no CUDA graph: {} requests, the largest graph bucket holds {}",
                                 c.requests.size(), measure.graph_buckets.back()));
}

Support takes_launch(const Case& c, const MeasureConfig& measure, const Candidate& candidate,
                     LaunchMode launch) {
  if (launch == LaunchMode::kGraph && !candidate.recorded.refusal.empty()) {
    return Support::no(candidate.recorded.refusal);
  }
  return takes_launch(c, measure, *candidate.entry, launch);
}

RunDevice* device_of(const Registry::Entry& entry, std::span<RunDevice> devices) {
  const auto found = std::ranges::find_if(
      devices, [&](const RunDevice& device) { return device.info.kind == entry.info.device; });
  return found == devices.end() ? nullptr : &*found;
}

CaseRecords::CaseRecords(const Scenario& scenario, const PlannedCase& planned,
                         std::span<RunDevice> devices)
    : scenario_(&scenario), planned_(&planned), devices_(devices) {
  const auto gpu = std::ranges::find_if(
      devices, [](const RunDevice& device) { return device.info.kind == DeviceKind::kCuda; });
  const bool has_gpu = gpu != devices.end();
  use_cascade_ = choose_cascade(planned.c, has_gpu ? gpu->info.units : kDefaultSmCount);
  if (has_gpu) {
    engine_choice_ =
        chosen_by_engines(planned.c, gpu->info, scenario.verify.batch_invariant_required);
  }
}

std::vector<Record> CaseRecords::interrupted() const {
  std::vector<Record> records;
  for (const Registry::Entry* entry : planned_->backends) {
    for (const LaunchMode launch : scenario_->measure.launch) {
      for (const CacheState cache : scenario_->measure.cache) {
        Record record = blank_record(*entry, cache, launch);
        record.outcome = Skipped{kInterrupted};
        record.timing.status = MeasureStatus::kInterrupted;
        records.push_back(std::move(record));
      }
    }
  }
  return records;
}

Record CaseRecords::blank_record(const Registry::Entry& entry, CacheState cache,
                                 LaunchMode launch) const {
  const Case& c = planned_->c;
  Record r;
  r.scenario = scenario_->name;
  r.case_id = c.id;
  r.mix = c.mix;
  r.model = c.model;
  r.backend = entry.info.name;
  r.backend_version = entry.info.version;
  r.packages = entry.info.packages;
  r.environment = entry.info.environment;
  r.kernel = entry.info.kernel;
  r.engine_flag = entry.info.engine_flag;
  if (const RunDevice* on = device_of(entry, devices_)) {
    const DeviceInfo& info = on->info;
    r.device = info.name;
    r.cache_resident = planned_->cost.bytes_unique <= info.last_level_cache_bytes;
  }
  r.cache = cache;
  r.launch = launch;
  r.step = c.step;
  r.graph_forced = is_forced(c, scenario_->measure, entry, launch);
  r.mode = to_string(c.mode);
  r.dtype = to_string(c.dtype);
  r.layer = c.layer;
  r.is_composed = !c.parts.empty();
  if (!c.layer.is_recurrent()) r.kv_cache = c.kv_cache;
  r.fp8 = c.fp8;
  r.q_scale = c.q_scale;
  r.out_scale = c.out_scale;
  r.tp = c.tp;
  r.model_layers = c.model_layers;
  r.model_layers.layers = layers_of_part(c);
  r.groups = groups_of(c);
  r.sweep = c.sweep;
  r.requests = static_cast<std::int64_t>(c.requests.size());
  if (launch == LaunchMode::kGraph && is_recorded_on_padding(c, entry.info)) {
    r.graph_bucket = c.graph_bucket;
  }
  r.q_tokens = c.q_tokens();
  for (const Request& request : c.requests) {
    r.q_len_max = std::max(r.q_len_max, request.q_len);
    r.kv_len_max = std::max(r.kv_len_max, request.kv_len);
  }
  r.padding_requests = c.padding.requests;
  r.padding_tokens = c.padding.tokens;
  r.kv_tokens = c.kv_tokens();
  r.use_cascade = use_cascade_;
  r.engine_choice = engine_choice_;
  r.cost = planned_->cost;
  r.repro = repro_line(*scenario_, r, entry);
  return r;
}

Record CaseRecords::record_of(const Candidate& candidate, CacheState cache, LaunchMode launch,
                              const std::string& fixture_hash) const {
  Record r = blank_record(*candidate.entry, cache, launch);
  r.fixture_hash = fixture_hash;
  if (candidate.layout && !r.is_recurrent()) r.kv_cache.layout = candidate.layout;
  if (candidate.runs()) {
    if (const Support launched = takes_launch(planned_->c, scenario_->measure, candidate, launch);
        !launched) {
      r.outcome = Unsupported{launched.reason()};
      return r;
    }
  }
  const Verification& verification = candidate.verification;
  r.declared = declared_facts(candidate.numerics);
  r.error = verification.error;
  r.bitwise = verification.bitwise;
  r.slots_checked = verification.slots_checked;
  r.first_use_us = verification.first_use_us;
  r.kernel = kernel_text(r.kernel, verification.kernel);
  r.workspace_bytes = workspace_of(candidate, launch);
  if (candidate.ended) {
    r.outcome = *candidate.ended;
    return r;
  }

  const auto timing = std::ranges::find_if(candidate.timings, [&](const CandidateTiming& each) {
    return each.cache == cache && each.launch == launch;
  });
  const bool reached = timing != candidate.timings.end();
  std::string wrong = verification.verdict == Verdict::kIncorrect ? verification.reason : "";
  if (reached) {
    r.samples_checked = timing->checks.compared;
    wrong = joined(wrong, timing->checks.fault);
  }
  const Skipped& late = candidate.late_trouble;
  const auto untimed = [&](MeasureStatus status, Outcome outcome) {
    r.timing.status = status;
    r.outcome = wrong.empty() ? std::move(outcome) : Incorrect{wrong, false, late.harness_error};
  };
  if (reached && timing->timing.status == MeasureStatus::kHostSync) {
    untimed(MeasureStatus::kHostSync,
            Completed{check_of(verification.verdict), Speed::kNone,
                      joined(timing->timing.failure, late.reason), late.harness_error});
  } else if (reached && timing->timing.status == MeasureStatus::kFailed) {
    untimed(MeasureStatus::kFailed, Crashed{"while timed: " + timing->timing.failure});
  } else if (reached && timing->timing.samples > 0) {
    add_timing(r, candidate, *timing, wrong);
  } else {
    untimed(MeasureStatus::kInterrupted,
            Skipped{joined(kInterrupted, late.reason), late.harness_error});
  }
  return r;
}

std::string CaseRecords::beyond_ceilings_of(const Candidate& candidate, CacheState cache,
                                            double seconds) const {
  RunDevice& device = *candidate.device;
  const auto found = [&] {
    return beyond_ceilings(planned_->cost, cache,
                           ceilings_of_backend(device.ceilings, device.info.kind,
                                               all_numerics(planned_->c, candidate)),
                           seconds);
  };
  std::string beyond = found();
  if (beyond.empty() || !device.measure_again) return beyond;
  const auto measure = std::exchange(device.measure_again, nullptr);
  Ceilings now;
  device.ceilings_s += time_host([&] { now = measure(); }, 1).max_us / 1e6;
  // The better of both: either of them was reached.
  const auto raise = [](double& ceiling, double rate) { ceiling = std::max(ceiling, rate); };
  raise(device.ceilings.read_bytes_per_s, now.read_bytes_per_s);
  raise(device.ceilings.copy_bytes_per_s, now.copy_bytes_per_s);
  raise(device.ceilings.flop_per_s, now.flop_per_s);
  device.ceilings_utc.clear();
  return found();
}

BatchedGraphTiming CaseRecords::judged(BatchedGraphTiming graph_n, CacheState cache,
                                       const Candidate& candidate) const {
  const CellTiming& timing = graph_n.timing;
  if (!timing.failure.empty()) {
    graph_n.reason = timing.failure;
  } else if (timing.samples == 0) {
    graph_n.reason = "stopped before its first sample";
  } else {
    graph_n.reason = beyond_ceilings_of(candidate, cache, timing.median_us / 1e6);
  }
  return graph_n;
}

void CaseRecords::add_timing(Record& r, const Candidate& candidate, const CandidateTiming& measured,
                             const std::string& wrong) const {
  const CellTiming& timing = measured.timing;
  const Skipped& late = candidate.late_trouble;
  r.timing = timing;
  r.plan = candidate.plan.host;
  if (r.launch == LaunchMode::kGraph) r.update = candidate.recorded.update;
  r.index = candidate.device->index;
  if (!wrong.empty()) {
    r.outcome = Incorrect{wrong, true, late.harness_error};
    return;
  }
  const double seconds = timing.median_us / 1e6;
  Check check = check_of(candidate.verification.verdict);
  const std::string doubt =
      joined(joined(measured.checks.doubt, disturbance(timing)), slowness_of_clock(timing));
  if (!doubt.empty()) check = Check::kMistrusted;
  const std::string beyond = beyond_ceilings_of(candidate, r.cache, seconds);
  std::string reason =
      joined(joined(candidate.verification.reason, doubt), joined(beyond, late.reason));
  if (!beyond.empty()) {
    r.outcome = Completed{check, Speed::kImpossible, std::move(reason), late.harness_error};
    return;
  }
  if (reason.empty()) reason = shortcoming(timing);
  r.outcome = Completed{check, Speed::kClaimed, std::move(reason), late.harness_error};
  r.is_short = candidate.device->info.kind == DeviceKind::kCuda && timing.median_us < kShortUs;
  if (r.is_short && measured.graph_n.tried()) {
    r.graph_n = judged(measured.graph_n, r.cache, candidate);
  }
  const Ceilings ceilings =
      ceilings_of_backend(candidate.device->ceilings, candidate.device->info.kind,
                          all_numerics(planned_->c, candidate));
  if (seconds > 0) r.roofline = roofline_s(planned_->cost, ceilings) / seconds;
}

std::string CaseRecords::shortcoming(const CellTiming& timing) const {
  if (timing.status == MeasureStatus::kInterrupted) {
    return fmt::format("interrupted after {} rounds", timing.rounds);
  }
  if (timing.status == MeasureStatus::kThrottled) {
    const std::string events = to_string(timing.clock_events);
    return fmt::format("{} of {} samples below 0.95 of the settled clock{}", timing.discarded,
                       timing.discarded + timing.samples,
                       events.empty() ? "" : " (" + events + ")");
  }
  if (timing.rounds < kFewestRounds) {
    return fmt::format("{} round{}: too few for an interval", timing.rounds,
                       timing.rounds == 1 ? "" : "s");
  }
  if (timing.status != MeasureStatus::kConverged) {
    return fmt::format("half-width {:.1f} % above {:.1f} % after {} rounds",
                       timing.half_width() * 100, scenario_->measure.precision * 100,
                       timing.rounds);
  }
  return {};
}

}  // namespace attnbench
