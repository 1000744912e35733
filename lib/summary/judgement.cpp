// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "lib/base/exit_code.h"
#include "lib/result/record_text.h"
#include "lib/summary/doubts.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

using enum CandidateVerdict;

bool is_of(const std::vector<std::string>& names, const Record& record) {
  return std::ranges::find(names, record.backend) != names.end();
}

/// Where ceilings are too low for a rival of this program, too, nobody cheats.
bool rival_is_impossible(const RunResult& run, const std::vector<std::string>& rivals,
                         const std::string& case_id) {
  return std::ranges::any_of(run.records, [&](const Record& record) {
    return record.case_id == case_id && record.is_impossible() && is_of(rivals, record);
  });
}

/// The table from a cell's verdict to the candidate's. Noise of the machine slows clocks and spoils
/// ceilings, too: with it nothing is suspected.
CandidateVerdict said_by(const Record& record, bool noise) {
  if (record.is_impossible()) return noise ? kInconclusive : kCheatingSuspected;
  switch (record.verdict()) {
    case Verdict::kCrashed:
      return kCrashed;
    case Verdict::kIncorrect:
      return kIncorrect;
    case Verdict::kMistrusted:
      return record.timing.clock_was_slow() && !noise ? kCheatingSuspected : kInconclusive;
    case Verdict::kPassed:
      return record.claims_speed() ? kAccepted : kInconclusive;
    case Verdict::kNotVerified:
    case Verdict::kUnsupported:
    case Verdict::kSkipped:
      return kInconclusive;
  }
  return kInconclusive;
}

/// Cells of one key are compared: same step and cache, and a launch mode.
using Key = std::tuple<std::string, StepPart, CacheState, LaunchMode>;

Key key_of(const Record& r, LaunchMode launch) { return {r.case_id, r.step, r.cache, launch}; }

/// A time in microseconds that is not shorter than its roofline.
struct Floored {
  explicit Floored(const Record& r) : backend(r.backend), interval(has_interval(r)) {
    const double least = r.timing.median_us * r.roofline;
    us = std::max(r.timing.median_us, least);
    lo = std::max(r.timing.lo_us, least);
    hi = std::max(r.timing.hi_us, least);
  }
  std::string backend;
  bool interval;
  double us, lo, hi;
};

/// The fastest right times of one side.
using Times = std::map<Key, Floored>;

Times times_of(const RunResult& run, const std::vector<std::string>& names) {
  Times times;
  for (const Record& r : run.records) {
    if (!is_of(names, r) || !r.claims_speed() || r.verdict() != Verdict::kPassed) continue;
    const Floored time(r);
    for (const LaunchMode launch : {LaunchMode::kEager, LaunchMode::kGraph}) {
      if (r.launch == LaunchMode::kGraph && launch == LaunchMode::kEager) continue;
      const auto [place, is_new] = times.try_emplace(key_of(r, launch), time);
      if (!is_new && time.us < place->second.us) place->second = time;
    }
  }
  return times;
}

/// The logarithm of a ratio, or a mean of some, with the squares of its errors to either side.
struct Logarithm {
  double value = 0, below = 0, above = 0;
  bool interval = true;

  void add(const Logarithm& other, double weight) {
    value += weight * other.value;
    below += weight * weight * other.below;
    above += weight * weight * other.above;
    interval = interval && other.interval;
  }

  [[nodiscard]] Score score() const {
    Score score{std::exp(value), 0, 0};
    if (!interval) return score;
    score.lo = std::exp(value - std::sqrt(below));
    score.hi = std::exp(value + std::sqrt(above));
    return score;
  }
};

double squared_logarithm(double ratio) { return std::pow(std::log(ratio), 2); }

Logarithm ratio_of(const Floored& rival, const Floored& candidate) {
  Logarithm ratio{.value = std::log(rival.us / candidate.us),
                  .interval = rival.interval && candidate.interval};
  if (!ratio.interval) return ratio;
  ratio.below =
      squared_logarithm(rival.us / rival.lo) + squared_logarithm(candidate.hi / candidate.us);
  ratio.above =
      squared_logarithm(rival.hi / rival.us) + squared_logarithm(candidate.us / candidate.lo);
  return ratio;
}

/// Keys in which a launch mode was timed by a side: without graphs of either there is only eager.
std::set<Key> timed_keys(const RunResult& run, const std::string& case_id) {
  std::set<Key> keys;
  for (const Record& r : run.records) {
    if (r.case_id == case_id && r.claims_speed()) keys.insert(key_of(r, r.launch));
  }
  return keys;
}

std::vector<std::string> cases_of(const RunResult& run) {
  std::vector<std::string> ids;
  for (const Record& r : run.records) {
    if (std::ranges::find(ids, r.case_id) == ids.end()) ids.push_back(r.case_id);
  }
  return ids;
}

std::string cell_text(const Record& r) {
  return fmt::format("{}, {}", to_string(r.cache), to_string(r.launch));
}

/// Of several cells of a backend and case with one reason, the first has it.
void add_reason_of_cell(CandidateVerdict says, const Record& r, CandidateJudgement& judgement) {
  const std::string& text = r.reason();
  const bool known = std::ranges::any_of(judgement.reasons, [&](const VerdictReason& reason) {
    return std::tie(reason.says, reason.text, reason.case_id, reason.backend) ==
           std::tie(says, text, r.case_id, r.backend);
  });
  if (known) return;
  judgement.reasons.push_back({says, text, r.case_id, r.backend, cell_text(r), r.repro});
}

/// Whether the backend did run another cell of this case and step.
bool ran_otherwise(const RunResult& run, const Record& r) {
  return std::ranges::any_of(run.records, [&](const Record& other) {
    return std::tie(other.case_id, other.backend, other.step) ==
               std::tie(r.case_id, r.backend, r.step) &&
           other.verdict() != Verdict::kUnsupported;
  });
}

/// Reasons of the candidate's cells. A backend that lacks a case, or a launch mode of it, is no
/// reason where the candidate has a time all the same, or where another cell tells more.
void add_reasons_of_cells(const RunResult& run, const std::vector<std::string>& candidates,
                          const std::vector<std::string>& rivals, const Times& times,
                          CandidateJudgement& judgement) {
  for (const Record& r : run.records) {
    if (!is_of(candidates, r)) continue;
    const bool noise = r.others.disturb() || rival_is_impossible(run, rivals, r.case_id);
    const CandidateVerdict says = said_by(r, noise);
    if (says == kAccepted) continue;
    if (r.verdict() == Verdict::kUnsupported &&
        (times.contains(key_of(r, r.launch)) || ran_otherwise(run, r))) {
      continue;
    }
    add_reason_of_cell(says, r, judgement);
  }
}

/// That of a case whose keys both sides have; false: there is none.
bool score_case(const std::string& id, const std::set<Key>& keys, const Times& mine,
                const Times& theirs, Logarithm& total, CandidateJudgement& judgement) {
  std::vector<Logarithm> ratios;
  std::string rival;
  for (const Key& key : keys) {
    const auto own = mine.find(key), other = theirs.find(key);
    if (own == mine.end() || other == theirs.end()) continue;
    ratios.push_back(ratio_of(other->second, own->second));
    rival = other->second.backend;
  }
  if (ratios.empty()) return false;
  Logarithm mean;
  for (const Logarithm& ratio : ratios) mean.add(ratio, 1.0 / static_cast<double>(ratios.size()));
  judgement.cases.push_back({id, mean.score(), rival});
  total = mean;
  return true;
}

bool any_converged(const RunResult& run, const std::vector<std::string>& candidates) {
  return std::ranges::any_of(run.records, [&](const Record& r) {
    return is_of(candidates, r) && r.timing.status == MeasureStatus::kConverged;
  });
}

}  // namespace

std::string_view to_string(CandidateVerdict verdict) {
  switch (verdict) {
    case kAccepted:
      return "accepted";
    case kInconclusive:
      return "inconclusive";
    case kCrashed:
      return "crashed";
    case kIncorrect:
      return "incorrect";
    case kCheatingSuspected:
      return "cheating suspected";
  }
  return "?";
}

int verdict_exit_code(CandidateVerdict verdict) {
  if (verdict == kAccepted) return static_cast<int>(ExitCode::kOk);
  return static_cast<int>(verdict == kInconclusive ? ExitCode::kInconclusive
                                                   : ExitCode::kIncorrect);
}

CandidateJudgement verdict_without_cells(CandidateVerdict verdict, std::string reason) {
  CandidateJudgement judgement;
  judgement.verdict = verdict;
  judgement.reasons.push_back({verdict, std::move(reason), {}, {}, {}, {}});
  return judgement;
}

CandidateJudgement candidate_judgement(const RunResult& run,
                                       const std::vector<std::string>& candidates,
                                       const std::vector<std::string>& rivals) {
  CandidateJudgement judgement;
  const Times mine = times_of(run, candidates), theirs = times_of(run, rivals);
  add_reasons_of_cells(run, candidates, rivals, mine, judgement);
  const auto of_candidate = [&](std::string text) {
    judgement.reasons.push_back({kInconclusive, std::move(text), {}, {}, {}, {}});
  };
  std::vector<Logarithm> scored;
  for (const std::string& id : cases_of(run)) {
    Logarithm score;
    if (score_case(id, timed_keys(run, id), mine, theirs, score, judgement)) {
      scored.push_back(score);
    } else if (std::ranges::any_of(
                   mine, [&](const auto& each) { return std::get<0>(each.first) == id; })) {
      // Its own time is right, but means nothing without another one.
      judgement.reasons.push_back(
          {kAccepted, "no rival has a right time: not in the score", id, {}, {}, {}});
    }
  }
  if (judgement.reasons.empty() && mine.empty()) of_candidate("nothing was measured");
  if (!mine.empty() && scored.empty()) of_candidate("no case has times of both sides: no score");
  if (!mine.empty() && !any_converged(run, candidates)) {
    of_candidate("no interval of its times became as narrow as the scenario asks for");
  }
  for (std::string doubt : {disturbance_text(run), sharers_text(run)}) {
    if (!doubt.empty()) judgement.reasons.push_back({kAccepted, std::move(doubt), {}, {}, {}, {}});
  }
  std::ranges::stable_sort(judgement.reasons, std::ranges::greater(), &VerdictReason::says);
  judgement.verdict = judgement.reasons.empty() ? kAccepted : judgement.reasons.front().says;
  if (judgement.verdict != kAccepted) {
    judgement.cases.clear();
    return judgement;
  }
  Logarithm total;
  for (const Logarithm& each : scored) total.add(each, 1.0 / static_cast<double>(scored.size()));
  judgement.score = total.score();
  return judgement;
}

}  // namespace attnbench
