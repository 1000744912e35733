// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/case_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "lib/base/counter_hash.h"
#include "lib/base/error.h"

namespace attnbench {
namespace {

/// Planning is host work of microseconds to milliseconds; its median settles within these.
constexpr int kPlanRepeats = 20;

constexpr const char* kInterrupted = "interrupted";

}  // namespace

CaseRun::CaseRun(const Scenario& scenario, const Case& c, const Cost& cost,
                 const Ceilings& ceilings, Device& device, const RunHooks& hooks)
    : scenario_(&scenario),
      case_(&c),
      cost_(cost),
      ceilings_(ceilings),
      device_(&device),
      hooks_(&hooks) {}

bool CaseRun::stop_requested() const { return hooks_->stop_requested && hooks_->stop_requested(); }

void CaseRun::tell(const std::string& what) const {
  if (hooks_->progress) hooks_->progress(what, 0);
}

void CaseRun::rule_out(Candidate& candidate, Verdict verdict, std::string reason) const {
  candidate.verification.verdict = verdict;
  candidate.verification.reason = std::move(reason);
  candidate.runs = false;
}

void CaseRun::consider(Candidate& candidate) {
  if (!candidate.entry->make) {
    rule_out(candidate, Verdict::kUnsupported, candidate.entry->absence);
    return;
  }
  try {
    candidate.backend = candidate.entry->make();
    const Support support = candidate.backend->supports(*case_, *device_);
    candidate.runs = static_cast<bool>(support);
    if (!support) rule_out(candidate, Verdict::kUnsupported, support.reason());
  } catch (const std::exception& error) {
    rule_out(candidate, Verdict::kCrashed, error.what());
  }
}

void CaseRun::build_fixture() {
  fixture_.reset();  // first the old one's memory, then the new one's
  fixture_ = std::make_unique<Fixture>(*case_, *device_);
}

void CaseRun::verify(std::vector<Candidate>& candidates) {
  if (!scenario_->verify.enabled) return;
  tell("computing the float64 reference");
  const std::vector<FillTruth> truth = compute_truth(*case_, scenario_->verify);
  for (Candidate& candidate : candidates) {
    if (!candidate.runs) continue;
    if (stop_requested()) return;
    tell(fmt::format("{} · verifying", candidate.entry->info.name));
    candidate.verification = verify_backend(*case_, *candidate.backend, *fixture_, *device_, truth);
    if (candidate.verification.verdict == Verdict::kCrashed) candidate.runs = false;
    // A backend that wrote out of bounds is reported; the next one starts on clean memory.
    if (!fixture_->damaged_guards().empty()) build_fixture();
  }
}

void CaseRun::plan(Candidate& candidate) {
  try {
    candidate.workspace = std::make_unique<Workspace>(*device_);
    candidate.plan = time_host(
        [&] {
          candidate.backend->init_forward_metadata(fixture_->batch(), *fixture_->io().layer,
                                                   *candidate.workspace);
        },
        kPlanRepeats);
  } catch (const std::exception& error) {
    rule_out(candidate, Verdict::kCrashed, error.what());
  }
}

void CaseRun::time(std::vector<Candidate>& candidates, double& measuring_s) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<TimedCell> cells;
  std::vector<std::pair<Candidate*, CacheState>> owners;
  const AttentionIo io = fixture_->io();
  for (Candidate& candidate : candidates) {
    if (candidate.runs) plan(candidate);
    if (!candidate.runs) continue;
    Candidate* owner = &candidate;
    for (const CacheState cache : scenario_->measure.cache) {
      TimedCell cell;
      cell.name = fmt::format("{} · {}", candidate.entry->info.name, to_string(cache));
      cell.cache = cache;
      // An exception ends this backend's cells only: it is kept, and the rest of the rounds pass it
      // by.
      cell.forward = [owner, io](Stream& stream) {
        if (!owner->failure.empty()) return;
        try {
          owner->backend->forward(io, stream);
        } catch (const std::exception& error) {
          owner->failure = fmt::format("while timed: {}", error.what());
        }
      };
      cells.push_back(std::move(cell));
      owners.emplace_back(owner, cache);
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
      measure_cells(cells, *device_, scenario_->measure, combine(case_->seed, 1), hooks);
  for (std::size_t i = 0; i < timings.size(); ++i) {
    owners[i].first->timings.emplace_back(owners[i].second, timings[i]);
  }
  for (Candidate& candidate : candidates) {
    if (!candidate.failure.empty()) rule_out(candidate, Verdict::kCrashed, candidate.failure);
  }
  measuring_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::vector<Record> CaseRun::run(std::span<const Registry::Entry* const> entries,
                                 double& measuring_s) {
  std::vector<Candidate> candidates(entries.size());
  bool any = false;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    candidates[i].entry = entries[i];
    consider(candidates[i]);
    any = any || candidates[i].runs;
  }
  if (any) {
    try {
      build_fixture();
      verify(candidates);
      if (!stop_requested()) {
        fixture_->fill(Fill::kTiming);
        fixture_hash_ = fixture_->hash();
        time(candidates, measuring_s);
      }
    } catch (const EnvironmentError& error) {
      for (Candidate& candidate : candidates) {
        if (candidate.runs) rule_out(candidate, Verdict::kSkipped, error.what());
      }
    }
  }

  std::vector<Record> records;
  for (const Candidate& candidate : candidates) {
    for (const LaunchMode launch : scenario_->measure.launch) {
      for (const CacheState cache : scenario_->measure.cache) {
        records.push_back(make_record(candidate, cache, launch));
        if (hooks_->record) hooks_->record(records.back());
      }
    }
  }
  return records;
}

std::vector<Record> CaseRun::skip(std::span<const Registry::Entry* const> entries,
                                  const std::string& reason) const {
  std::vector<Record> records;
  for (const Registry::Entry* entry : entries) {
    for (const LaunchMode launch : scenario_->measure.launch) {
      for (const CacheState cache : scenario_->measure.cache) {
        Record record = blank_record(*entry, cache, launch);
        record.verdict = Verdict::kSkipped;
        record.reason = reason;
        record.status = reason == kInterrupted ? kInterrupted : "not measured";
        records.push_back(std::move(record));
      }
    }
  }
  return records;
}

Record CaseRun::blank_record(const Registry::Entry& entry, CacheState cache,
                             LaunchMode launch) const {
  const Case& c = *case_;
  Record r;
  r.case_id = c.id;
  r.mix = c.mix;
  r.model = c.model;
  r.backend = entry.info.name;
  r.backend_version = entry.info.version;
  r.device = device_->info().name;
  r.cache = cache;
  r.launch = launch;
  r.mode = to_string(c.mode);
  r.dtype = to_string(c.dtype);
  r.kv_dtype = to_string(c.kv_cache.dtype);
  r.heads_q = c.layer.heads_q;
  r.heads_kv = c.layer.heads_kv;
  r.head_dim_qk = c.layer.head_dim_qk;
  r.head_dim_v = c.layer.head_dim_v;
  r.page_size = c.kv_cache.page_size;
  r.requests = static_cast<std::int64_t>(c.requests.size());
  r.q_tokens = c.q_tokens();
  r.kv_tokens = c.kv_tokens();
  r.cost = cost_;
  r.status = "not measured";
  r.cache_resident = cost_.bytes_unique <= device_->info().last_level_cache_bytes;
  r.fixture_hash = fixture_hash_;
  r.repro = repro_line(*scenario_, r);
  return r;
}

Record CaseRun::make_record(const Candidate& candidate, CacheState cache, LaunchMode launch) const {
  Record r = blank_record(*candidate.entry, cache, launch);
  r.verdict = candidate.verification.verdict;
  r.reason = candidate.verification.reason;
  r.error = candidate.verification.error;
  r.bitwise = candidate.verification.bitwise;
  if (!candidate.runs) return r;
  if (launch == LaunchMode::kGraph && device_->info().kind == DeviceKind::kCpu) {
    r.verdict = Verdict::kUnsupported;
    r.reason = "no CUDA graph on a CPU";
    r.error = {};
    r.bitwise = {};
    return r;
  }
  const auto timing = std::ranges::find_if(candidate.timings,
                                           [&](const auto& entry) { return entry.first == cache; });
  if (timing != candidate.timings.end() && timing->second.samples > 0) {
    add_timing(r, candidate, timing->second);
    return r;
  }
  // Never reached. A wrong verdict stands all the same.
  r.status = kInterrupted;
  if (!is_failure(r.verdict)) {
    r.verdict = Verdict::kSkipped;
    r.reason = kInterrupted;
  }
  return r;
}

void CaseRun::add_timing(Record& r, const Candidate& candidate, const CellTiming& timing) const {
  r.timed = true;
  r.timing = timing;
  r.plan = candidate.plan;
  r.status = timing.interrupted ? kInterrupted : std::string(to_string(timing.status));
  if (is_failure(r.verdict)) return;
  const double seconds = timing.median_us / 1e6;
  // Data that stay in a cache between samples may well come faster than memory delivers.
  r.impossible = r.cache == CacheState::kCold && impossible(cost_, ceilings_, seconds);
  if (r.impossible) {
    r.reason = fmt::format(
        "{:.1f} GB/s from cold memory is above 1.02 x the measured read ceiling of {:.1f} GB/s: "
        "byte count, cache flush or kernel is wrong",
        static_cast<double>(cost_.bytes_unique) / seconds / 1e9, ceilings_.read_bytes_per_s / 1e9);
    return;
  }
  if (seconds > 0) r.roofline = roofline_s(cost_, ceilings_) / seconds;
  if (!r.reason.empty()) return;
  if (timing.interrupted) {
    r.reason = fmt::format("interrupted after {} rounds", timing.rounds);
  } else if (timing.status != MeasureStatus::kConverged) {
    r.reason =
        fmt::format("half-width {:.1f} % above {:.1f} % after {} rounds", timing.half_width() * 100,
                    scenario_->measure.precision * 100, timing.rounds);
  }
}

}  // namespace attnbench
