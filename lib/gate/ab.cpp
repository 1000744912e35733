// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/ab.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <variant>

#include "lib/base/counter_hash.h"
#include "lib/base/error.h"
#include "lib/base/regular_file.h"
#include "lib/gate/gate_verdict.h"
#include "lib/view/json.h"

namespace attnbench {
namespace {

/// What the pairs of one stage measured.
struct StagePairs {
  CellPairs times;
  std::map<CellKey, int> possible;  ///< pairs in which neither side was above a ceiling
  int finished = 0;                 ///< pairs of processes

  void add(const RunResult& base, const RunResult& now);
};

/// What the processes of one side have told so far.
struct SideState {
  RunResult run;          ///< of the process that checked the outputs
  bool verified = false;  ///< there was one
  std::string failure;    ///< of the first process that had no result
  bool crashed = false;
  int failed = 0;

  void take(AbMeasurement measured, int pair);
};

void SideState::take(AbMeasurement measured, int pair) {
  if (!measured.failure.empty()) {
    if (failed++ == 0) failure = fmt::format("{} in pair {}", measured.failure, pair);
    crashed = crashed || measured.crashed;
    return;
  }
  if (!verified) {
    run = std::move(measured.run);
    verified = true;
    return;
  }
  // Outputs that are wrong in any process are wrong.
  for (const Record& record : measured.run.records) {
    if (!is_failure(record.verdict())) continue;
    const auto known = std::ranges::find_if(
        run.records, [&](const Record& each) { return CellKey(each) == CellKey(record); });
    if (known != run.records.end() && !is_failure(known->verdict()))
      known->outcome = record.outcome;
  }
}

class AbRun {
 public:
  AbRun(const AbProcess& process, const AbConfig& config, const AbHooks& hooks)
      : process_(process), config_(config), hooks_(hooks) {}

  [[nodiscard]] GateReport report();

 private:
  [[nodiscard]] AbMeasurement measure(AbSide side, const std::vector<CellKey>& cells);
  /// Returns the pairs of times that `count` pairs of processes measured.
  [[nodiscard]] StagePairs measure_pairs(int count, const std::vector<CellKey>& cells);
  [[nodiscard]] GateReport judged(const StagePairs& pairs) const;
  void judge_open_cells_again(GateReport& report);
  void judge_failures(GateReport& report) const;

  [[nodiscard]] bool ended_early() const { return interrupted_ || hung_; }
  [[nodiscard]] SideState& state_of(AbSide side) { return side == AbSide::kBase ? base_ : now_; }

  const AbProcess& process_;
  const AbConfig& config_;
  const AbHooks& hooks_;
  SideState base_, now_;
  int pairs_begun_ = 0;
  bool interrupted_ = false;
  bool hung_ = false;  ///< a process of either side
};

AbMeasurement AbRun::measure(AbSide side, const std::vector<CellKey>& cells) {
  AbMeasurement measured = process_(side, !state_of(side).verified, cells);
  if (!config_.cells.empty()) {
    std::erase_if(measured.run.records, [&](const Record& record) {
      return std::ranges::find(config_.cells, CellKey(record)) == config_.cells.end();
    });
  }
  interrupted_ = hooks_.stop_requested && hooks_.stop_requested();
  hung_ = hung_ || measured.hung;
  return measured;
}

void StagePairs::add(const RunResult& base, const RunResult& now) {
  ++finished;
  std::map<CellKey, const Record*> partners;
  for (const Record& record : base.records) partners.emplace(CellKey(record), &record);
  for (const Record& record : now.records) {
    const auto partner = partners.find(CellKey(record));
    if (partner == partners.end()) continue;
    const Record& other = *partner->second;
    const auto counts = [](const Record& each) {
      return each.is_timed() && !is_failure(each.verdict());
    };
    if (!counts(record) || !counts(other)) continue;
    times[partner->first].push_back({other.timing.median_us, record.timing.median_us,
                                     other.timing.sm_mhz, record.timing.sm_mhz});
    if (!record.is_impossible() && !other.is_impossible()) ++possible[partner->first];
  }
}

StagePairs AbRun::measure_pairs(int count, const std::vector<CellKey>& cells) {
  StagePairs pairs;
  for (int i = 1; i <= count; ++i) {
    const int pair = ++pairs_begun_;
    std::array<AbSide, 2> order = {AbSide::kBase, AbSide::kNew};
    if (combine(config_.seed, static_cast<std::uint64_t>(pair)) % 2 == 1) {
      std::swap(order[0], order[1]);
    }
    std::map<AbSide, AbMeasurement> measured;
    for (const AbSide side : order) {
      if (hooks_.progress) hooks_.progress(i, count, side);
      measured[side] = measure(side, cells);
      if (interrupted_) return pairs;  // what a stopped process measured does not count
    }
    pairs.add(measured[AbSide::kBase].run, measured[AbSide::kNew].run);
    for (const AbSide side : order) state_of(side).take(std::move(measured[side]), pair);
    if (hung_) break;
  }
  return pairs;
}

/// A process whose ceilings were measured while the machine was busy calls a right time impossible.
/// So a cell is impossible where the process that checked it says so, and half of the pairs do.
void judge_ceilings_together(RunResult& run, const StagePairs& pairs) {
  for (Record& record : run.records) {
    auto* const completed = std::get_if<Completed>(&record.outcome);
    const auto found = pairs.possible.find(CellKey(record));
    if (completed == nullptr || found == pairs.possible.end()) continue;
    const bool mostly_possible = 2 * found->second > pairs.finished;
    if (completed->speed == Speed::kImpossible && mostly_possible) {
      completed->speed = Speed::kClaimed;
    }
  }
}

GateReport AbRun::judged(const StagePairs& pairs) const {
  RunResult base = base_.run, now = now_.run;
  judge_ceilings_together(base, pairs);
  judge_ceilings_together(now, pairs);
  return compare_pairs(base, now, pairs.times, config_.compare);
}

void AbRun::judge_open_cells_again(GateReport& report) {
  std::vector<CellKey> open;
  for (const Comparison& each : report.cells) {
    if (each.counts() && each.judgement.verdict == GateVerdict::kInconclusive) {
      open.push_back(each.cell);
    }
  }
  if (open.empty() || ended_early() || config_.repeat_pairs == 0) return;
  const StagePairs pairs = measure_pairs(config_.repeat_pairs, open);
  if (ended_early()) return;
  for (Comparison& again : judged(pairs).cells) {
    // A result that turned out wrong meanwhile is wrong, open or not.
    const bool wrong = again.judgement.verdict == GateVerdict::kIncorrect;
    if (!wrong && std::ranges::find(open, again.cell) == open.end()) continue;
    *std::ranges::find(report.cells, again.cell, &Comparison::cell) = std::move(again);
  }
  report.remarks.push_back(
      fmt::format("{} open after {} pairs and judged again in {} new ones alone",
                  open.size() == 1 ? "1 cell was" : fmt::format("{} cells were", open.size()),
                  config_.pairs, config_.repeat_pairs));
}

void correct_for_many(GateReport& report) {
  std::vector<Comparison*> paired;
  std::vector<JudgedSpeed> cells;
  for (Comparison& each : report.cells) {
    if (!each.speed) continue;
    paired.push_back(&each);
    cells.push_back({*each.speed, each.judgement});
  }
  if (!correct_for_many(cells)) return;
  for (std::size_t i = 0; i < cells.size(); ++i) paired[i]->judgement = cells[i].judgement;
  report.remarks.push_back(
      fmt::format("{} cells: Holm's correction was applied to their sign tests", cells.size()));
}

void AbRun::judge_failures(GateReport& report) const {
  for (const auto& [state, side] : {std::pair(&base_, AbSide::kBase), {&now_, AbSide::kNew}}) {
    if (state->failed == 0) continue;
    report.remarks.push_back(fmt::format("the {} program {} ({} process{} without a result)",
                                         to_string(side), state->failure, state->failed,
                                         state->failed == 1 ? "" : "es"));
  }
  if (hung_) report.remarks.push_back(fmt::format("no pair was begun after pair {}", pairs_begun_));
  const bool nothing_known = report.cells.empty() && (base_.failed > 0 || now_.failed > 0);
  if (nothing_known) {
    Record all;
    all.case_id = all.backend = "*";
    report.cells.push_back({.cell = CellKey(all)});
    report.cells.back().judgement = {GateVerdict::kNoVerdict, "neither program had a result"};
  }
  for (Comparison& each : report.cells) {
    if (now_.crashed) {
      each.judgement = {GateVerdict::kIncorrect,
                        fmt::format("the new program {}{}", now_.failure,
                                    base_.crashed ? ", and the base failed, too" : "")};
    } else if (!now_.verified && now_.failed > 0) {
      each.judgement = {GateVerdict::kNotComparable, "the new program " + now_.failure};
    } else if (!base_.verified && base_.failed > 0) {
      each.judgement = {GateVerdict::kNoVerdict, "the base program " + base_.failure};
    }
  }
}

GateReport AbRun::report() {
  GateReport report = judged(measure_pairs(config_.pairs, config_.cells));
  judge_open_cells_again(report);
  correct_for_many(report);
  judge_failures(report);
  report.interrupted = interrupted_;
  sort_by_harm(report);
  return report;
}

constexpr std::size_t kMaxReportBytes = std::size_t{64} << 20;
constexpr std::array kLaunches = {LaunchMode::kEager, LaunchMode::kGraph};

/// The value whose word the member is.
template <class Values>
auto value_of_word(const Json& cell, const char* member, const Values& values) {
  const auto word = cell.at(member).get<std::string>();
  const auto found =
      std::ranges::find_if(values, [&](const auto& value) { return to_string(value) == word; });
  if (found == std::end(values)) {
    throw ConfigError(fmt::format("no {} is called '{}'", member, word));
  }
  return *found;
}

CellKey key_of(const Json& cell) {
  Record record;
  record.scenario = cell.at("scenario").get<std::string>();
  record.case_id = cell.at("case").get<std::string>();
  record.backend = cell.at("backend").get<std::string>();
  record.step = value_of_word(cell, "step", kStepParts);
  record.cache = value_of_word(cell, "cache", kCacheStates);
  record.launch = value_of_word(cell, "launch", kLaunches);
  return CellKey(record);
}

bool is_open(const Json& cell, GateVerdict verdict) {
  return verdict == GateVerdict::kSuspect || verdict == GateVerdict::kInconclusive ||
         verdict == GateVerdict::kNoVerdict ||
         (verdict == GateVerdict::kRegressed && !cell.at("speed").is_null());
}

}  // namespace

std::string_view to_string(AbSide side) { return side == AbSide::kBase ? "base" : "new"; }

GateReport run_ab(const AbProcess& process, const AbConfig& config, const AbHooks& hooks) {
  return AbRun(process, config, hooks).report();
}

Screen read_screen(const std::string& path) {
  const std::string text = read_regular_file(path, kMaxReportBytes);
  Screen screen;
  try {
    const Json report = Json::parse(text);
    if (report.at("schema") != "attnbench.gate") throw ConfigError("another schema");
    for (const Json& cell : report.at("cells")) {
      const GateVerdict verdict = value_of_word(cell, "verdict", kGateVerdicts);
      if (is_open(cell, verdict)) screen.open.push_back(key_of(cell));
      const bool is_gone = verdict == GateVerdict::kMissing || verdict == GateVerdict::kSkippedNow;
      if (is_gone && cell.at("allowed_because") == "") {
        screen.gone.push_back({.cell = key_of(cell),
                               .mix = cell.at("mix"),
                               .judgement = {verdict, cell.at("reason"), Doubt::kNone},
                               .repro = cell.at("repro")});
      }
    }
  } catch (const Json::exception& error) {
    throw ConfigError(fmt::format("{}: no report of attnbench compare: {}", path, error.what()));
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: no report of attnbench compare: {}", path,
                                  error.diagnostics().front().message));
  }
  return screen;
}

}  // namespace attnbench
