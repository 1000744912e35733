// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/gate/backend_side.h"
#include "lib/result/record_text.h"
#include "lib/session/aa_pairs.h"

namespace attnbench {
namespace {

using Cells = std::map<CellKey, const Record*>;

/// `side` is "base" or "new" in messages.
Cells cells_of(const RunResult& run, const char* side) {
  Cells cells;
  for (const Record& record : run.records) {
    if (cells.emplace(CellKey(record), &record).second) continue;
    throw ConfigError(
        fmt::format("the {} result holds a cell twice: {}", side, to_string(CellKey(record))));
  }
  return cells;
}

/// How far apart two equal cells of this kind were, in a run with --aa.
double aa_spread(const RunResult& run, const Record& record) {
  double spread = 0;
  for (const Record& each : run.records) {
    if (each.aa.pairs == 0 || registered_name(each.backend) != registered_name(record.backend) ||
        each.scenario != record.scenario || each.case_id != record.case_id ||
        each.step != record.step || each.cache != record.cache || each.launch != record.launch) {
      continue;
    }
    spread = std::max(spread, each.aa.floor());
  }
  return spread;
}

bool ran(const Record& record) { return std::holds_alternative<Completed>(record.outcome); }

bool is_time(double us) { return std::isfinite(us) && us > 0; }

/// What keeps a record from having a time that can be compared; empty: nothing. In pairs it needs
/// no interval of its own.
std::string no_time(const Record& record, const char* side, bool in_pairs) {
  const CellTiming& timing = record.timing;
  if (!record.claims_speed() || !is_time(timing.median_us)) {
    return fmt::format("no time {}", side);
  }
  if (in_pairs) return {};
  if (!has_interval(record) || !is_time(timing.lo_us) || !is_time(timing.hi_us)) {
    return fmt::format("{} {} {}: no interval", timing.rounds,
                       timing.rounds == 1 ? "round" : "rounds", side);
  }
  return {};
}

/// Compares the cells of two runs.
class Comparer {
 public:
  Comparer(const RunResult& base, const RunResult& now, const CompareOptions& options)
      : base_(base), now_(now), options_(options) {}

  /// Rounds that visited both cells are pairs.
  void take_rounds_for_pairs() { interleaved_ = true; }
  void take_pairs(const CellPairs& pairs) { pairs_ = &pairs; }
  [[nodiscard]] GateReport report();

 private:
  [[nodiscard]] Comparison compared(const Record* base, const Record* now);
  [[nodiscard]] Judgement judged(const Record* base, const Record* now, Comparison& comparison);
  [[nodiscard]] Judgement judged_pair(const Record& base, const Record& now,
                                      Comparison& comparison);
  [[nodiscard]] Judgement judged_speed(const Record& base, const Record& now,
                                       Comparison& comparison);
  [[nodiscard]] std::string conditions(const std::vector<Difference>& differences,
                                       const std::string& scenario);
  [[nodiscard]] std::string other_modes(const Record& record, const Cells& cells,
                                        const char* side) const;
  [[nodiscard]] std::vector<TimedPair> pairs_of(const Record& base, const Record& now) const;

  const RunResult& base_;
  const RunResult& now_;
  const CompareOptions& options_;
  bool interleaved_ = false;
  const CellPairs* pairs_ = nullptr;
  bool same_machine_ = true;
  std::vector<Difference> run_differences_;
  Cells base_cells_, now_cells_;
  std::map<std::string, int> waived_;  ///< difference and the cells that it would have refused
};

/// The differences that nobody waived, of the whole run or of the scenario; empty: none.
std::string Comparer::conditions(const std::vector<Difference>& differences,
                                 const std::string& scenario) {
  std::string text;
  for (const Difference& each : differences) {
    if (!each.scenario.empty() && each.scenario != scenario) continue;
    const std::string line = fmt::format("another {}: {}", each.condition, each.text);
    if (options_.waivers.contains(each.condition)) {
      ++waived_[line];
      continue;
    }
    text += (text.empty() ? "" : "; ") + line;
  }
  return text;
}

/// Says so where a cell has no partner only because the other run measured its case and backend
/// in other cache states or launches, and in none of the same; empty otherwise.
std::string Comparer::other_modes(const Record& record, const Cells& cells,
                                  const char* side) const {
  const auto of_group = [&](const CellKey& key) {
    return key.scenario == record.scenario && key.case_id == record.case_id &&
           key.backend == record.backend && key.step == record.step;
  };
  std::string modes;
  for (const auto& [key, other] : cells) {
    if (!of_group(key)) continue;
    if (base_cells_.contains(key) && now_cells_.contains(key)) return {};
    modes += fmt::format("{}{} {}", modes.empty() ? "" : ", ", to_string(key.cache),
                         to_string(key.launch));
  }
  return modes.empty() ? modes : fmt::format("measured {} {} only", modes, side);
}

std::vector<TimedPair> Comparer::pairs_of(const Record& base, const Record& now) const {
  if (pairs_ != nullptr) {
    const auto found = pairs_->find(CellKey(now));
    return found == pairs_->end() ? std::vector<TimedPair>() : found->second;
  }
  return interleaved_ ? pairs_by_round(base.timing, now.timing) : std::vector<TimedPair>();
}

Judgement Comparer::judged_speed(const Record& base, const Record& now, Comparison& comparison) {
  for (const auto& [record, side] : {std::pair(&base, "in the base"), std::pair(&now, "now")}) {
    std::string missing = no_time(*record, side, pairs_ != nullptr);
    if (!missing.empty()) return {GateVerdict::kNoVerdict, std::move(missing)};
  }
  SpeedLimits limits;
  const Limits policy = options_.policy.limits_of(comparison.cell, comparison.mix);
  limits.effect = policy.latency.value_or(limits.effect);
  limits.floor_us = policy.latency_floor_us.value_or(limits.floor_us);
  limits.aa_spread = std::max(aa_spread(base_, base), aa_spread(now_, now));
  const std::vector<TimedPair> pairs = pairs_of(base, now);
  const bool paired = pairs_ != nullptr || !pairs.empty();
  comparison.speed = paired ? evidence_of(pairs) : evidence_of(base.timing, now.timing);
  comparison.edge = limits.edge(comparison.speed->base_us);
  if (pairs_ != nullptr) return judge_speed(*comparison.speed, limits);
  comparison.converged = base.timing.status == MeasureStatus::kConverged &&
                         now.timing.status == MeasureStatus::kConverged;
  if (base.timing.status == MeasureStatus::kThrottled ||
      now.timing.status == MeasureStatus::kThrottled) {
    return {GateVerdict::kInconclusive, "the device throttled", Doubt::kClock};
  }
  const bool decides = paired || (options_.trust_sequential && same_machine_);
  return decides ? judge_speed(*comparison.speed, limits) : screen_speed(*comparison.speed, limits);
}

Judgement Comparer::judged_pair(const Record& base, const Record& now, Comparison& comparison) {
  if (base.has_failed()) {
    return {GateVerdict::kImproved, fmt::format("the base was {}", verdict_word(base))};
  }
  if (!ran(base) && !ran(now)) return {GateVerdict::kNotRun, now.reason()};
  if (!ran(now)) {
    return {GateVerdict::kSkippedNow, fmt::format("{}: {}", verdict_word(now), now.reason())};
  }
  if (!ran(base)) {
    return {GateVerdict::kNew,
            fmt::format("the base had {}: {}", verdict_word(base), base.reason())};
  }
  std::string inputs = conditions(differences_of(base, now), now.scenario);
  if (!inputs.empty()) return {GateVerdict::kNotComparable, std::move(inputs)};
  if (now.verdict() != base.verdict() && now.verdict() != Verdict::kPassed) {
    return {GateVerdict::kNoVerdict,
            fmt::format("{} in the base, {} now{}{}", verdict_word(base), verdict_word(now),
                        now.reason().empty() ? "" : ": ", now.reason())};
  }
  return judged_speed(base, now, comparison);
}

Judgement Comparer::judged(const Record* base, const Record* now, Comparison& comparison) {
  if (now != nullptr && now->has_failed()) {
    const bool before = base != nullptr && base->has_failed();
    return {GateVerdict::kIncorrect, fmt::format("{}{}: {}", verdict_word(*now),
                                                 before ? " as in the base" : "", now->reason())};
  }
  std::string run_wide = conditions(run_differences_, comparison.cell.scenario);
  if (!run_wide.empty()) return {GateVerdict::kNotComparable, std::move(run_wide)};
  if (base != nullptr && now != nullptr) return judged_pair(*base, *now, comparison);
  std::string modes = base == nullptr ? other_modes(*now, base_cells_, "in the base")
                                      : other_modes(*base, now_cells_, "now");
  if (!modes.empty()) return {GateVerdict::kNotComparable, std::move(modes)};
  if (base == nullptr) return {ran(*now) ? GateVerdict::kNew : GateVerdict::kNotRun, now->reason()};
  if (!ran(*base) && !base->has_failed()) return {GateVerdict::kNotRun, base->reason()};
  return {GateVerdict::kMissing};
}

/// A limit of the policy that the new result breaks, whatever its time did; empty: none.
std::string broken_limit(const Limits& limits, const Record* now, GateVerdict verdict) {
  if (limits.must_run.value_or(false) &&
      (verdict == GateVerdict::kMissing || verdict == GateVerdict::kSkippedNow ||
       verdict == GateVerdict::kNotRun)) {
    return fmt::format("the policy requires it to run{}{}", now == nullptr ? "" : ": ",
                       now == nullptr ? "" : now->reason());
  }
  if (now == nullptr || !ran(*now)) return {};
  const double error = std::max(now->error.bound_ratio, now->error.lse_bound_ratio);
  if (limits.error && now->error.rows > 0 && !(error <= *limits.error)) {
    return fmt::format("error/bound {:.3g} is above the limit {:.3g}", error, *limits.error);
  }
  if (limits.roofline && now->claims_speed() && !(now->roofline >= *limits.roofline)) {
    return fmt::format("{:.1f} % of the roofline is below the limit {:.1f} %", 100 * now->roofline,
                       100 * *limits.roofline);
  }
  return {};
}

Comparison Comparer::compared(const Record* base, const Record* now) {
  const Record& known = now != nullptr ? *now : *base;
  Comparison comparison{.cell = CellKey(known)};
  comparison.mix = known.mix;
  comparison.repro = known.repro;
  comparison.failed_before = base != nullptr && base->has_failed();
  if (base != nullptr && now != nullptr && ran(*base) && ran(*now)) {
    comparison.base_kernel = base->kernel;
    comparison.new_kernel = now->kernel;
  }
  comparison.judgement = judged(base, now, comparison);
  const GateVerdict verdict = comparison.judgement.verdict;
  if (verdict > GateVerdict::kNotComparable) {
    const Limits limits = options_.policy.limits_of(comparison.cell, comparison.mix);
    std::string broken = broken_limit(limits, now, verdict);
    if (!broken.empty()) comparison.judgement = {GateVerdict::kRegressed, std::move(broken)};
  }
  return comparison;
}

GateReport Comparer::report() {
  base_cells_ = cells_of(base_, "base");
  now_cells_ = cells_of(now_, "new");
  run_differences_ = differences_of(base_, now_);
  same_machine_ = std::ranges::none_of(
      run_differences_, [](const Difference& each) { return each.scenario.empty(); });
  GateReport report;
  for (const auto& [key, now] : now_cells_) {
    const auto base = base_cells_.find(key);
    report.cells.push_back(compared(base == base_cells_.end() ? nullptr : base->second, now));
  }
  for (const auto& [key, base] : base_cells_) {
    if (!now_cells_.contains(key)) report.cells.push_back(compared(base, nullptr));
  }
  report.scenarios = now_.scenarios;
  report.remarks = remarks_on(base_, now_, options_.today);
  for (const auto& [difference, cells] : waived_) {
    report.remarks.push_back(fmt::format("waived by --allow for {} cells: {}", cells, difference));
  }
  apply_allowances(report, options_);
  sort_by_harm(report);
  return report;
}

bool excuses(const Allowance& allowance, const Comparison& comparison) {
  if (!allowance.cells.matches(comparison.cell, comparison.mix)) return false;
  const GateVerdict verdict = comparison.judgement.verdict;
  if (std::ranges::find(allowance.verdicts, verdict) == allowance.verdicts.end()) return false;
  // A slowdown beyond what was accepted is another one.
  return !allowance.latency || !comparison.speed ||
         comparison.speed->time.median <= 1 + *allowance.latency;
}

}  // namespace

GateReport compare_runs(const RunResult& base, const RunResult& now,
                        const CompareOptions& options) {
  return Comparer(base, now, options).report();
}

GateReport compare_backends(const RunResult& run, const std::string& base, const std::string& now,
                            const CompareOptions& options) {
  const RunResult base_side = records_of({base, now}, run), new_side = records_of({now, now}, run);
  Comparer comparer(base_side, new_side, options);
  comparer.take_rounds_for_pairs();
  GateReport report = comparer.report();
  report.base = base;
  report.now = now;
  return report;
}

GateReport compare_pairs(const RunResult& base, const RunResult& now, const CellPairs& pairs,
                         const CompareOptions& options) {
  Comparer comparer(base, now, options);
  comparer.take_pairs(pairs);
  GateReport report = comparer.report();
  report.confirmed = true;
  return report;
}

void apply_allowances(GateReport& report, const CompareOptions& options) {
  for (const Allowance& allowance : options.policy.allowances) {
    const std::string name = fmt::format("{}:{}: the allowance '{}'", options.policy.path,
                                         allowance.line, allowance.reason);
    if (std::chrono::sys_days(options.today) > std::chrono::sys_days(allowance.expires)) {
      report.remarks.push_back(
          fmt::format("{} expired on {} and does not count", name, date_text(allowance.expires)));
      continue;
    }
    bool met = false;
    for (Comparison& comparison : report.cells) {
      if (!excuses(allowance, comparison)) continue;
      met = true;
      comparison.allowed_because =
          fmt::format("{} (until {})", allowance.reason, date_text(allowance.expires));
    }
    if (!met) report.remarks.push_back(name + " meets no cell");
  }
}

void sort_by_harm(GateReport& report) {
  std::ranges::stable_sort(report.cells, {}, [](const Comparison& each) {
    return std::tuple(!each.counts(), each.judgement.verdict,
                      each.speed ? -each.speed->time.median : 0.0);
  });
}

ExitCode exit_code_of(const GateReport& report, bool strict) {
  const auto any = [&](auto... verdicts) {
    return std::ranges::any_of(report.cells, [&](const Comparison& each) {
      return each.counts() && ((each.judgement.verdict == verdicts) || ...);
    });
  };
  if (any(GateVerdict::kIncorrect)) return ExitCode::kIncorrect;
  if (any(GateVerdict::kRegressed)) return ExitCode::kRegression;
  if (any(GateVerdict::kNotComparable)) return ExitCode::kEnvironment;
  const bool matched = std::ranges::any_of(report.cells, [](const Comparison& each) {
    const GateVerdict verdict = each.judgement.verdict;
    return verdict != GateVerdict::kMissing && verdict != GateVerdict::kNew &&
           verdict != GateVerdict::kNotRun;
  });
  if (!matched) return ExitCode::kUsage;
  if (strict && any(GateVerdict::kSuspect, GateVerdict::kMissing, GateVerdict::kSkippedNow,
                    GateVerdict::kNoVerdict, GateVerdict::kInconclusive)) {
    return ExitCode::kInconclusive;
  }
  return ExitCode::kOk;
}

}  // namespace attnbench
