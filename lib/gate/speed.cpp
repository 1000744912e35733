// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lib/measure/paired_ratio.h"
#include "lib/measure/statistics.h"

namespace attnbench {
namespace {

constexpr double kLevel = 0.99;

RatioInterval interval_of(const PairedRatio& ratio) { return {ratio.median, ratio.lo, ratio.hi}; }

RatioInterval scaled(const RatioInterval& ratio, double factor) {
  return {ratio.median * factor, ratio.lo * factor, ratio.hi * factor};
}

double median_of(std::span<const TimedPair> pairs, double TimedPair::*time) {
  std::vector<double> times;
  for (const TimedPair& pair : pairs) {
    if (std::isfinite(pair.*time) && pair.*time > 0) times.push_back(pair.*time);
  }
  return times.empty() ? 0 : median(times);
}

Judgement doubtful(Doubt doubt, std::string reason) {
  return {GateVerdict::kInconclusive, std::move(reason), doubt};
}

}  // namespace

SpeedEvidence evidence_of(std::span<const TimedPair> pairs) {
  std::vector<BlockMedian> base, now, base_cycles, now_cycles;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const TimedPair& pair = pairs[i];
    const int number = static_cast<int>(i);
    base.push_back({number, pair.base_us});
    now.push_back({number, pair.new_us});
    base_cycles.push_back({number, pair.base_us * pair.base_mhz});
    now_cycles.push_back({number, pair.new_us * pair.new_mhz});
  }
  const PairedRatio time = paired_ratio(base, now, kLevel);
  const PairedRatio cycles = paired_ratio(base_cycles, now_cycles, kLevel);
  SpeedEvidence evidence;
  evidence.base_us = median_of(pairs, &TimedPair::base_us);
  evidence.new_us = median_of(pairs, &TimedPair::new_us);
  evidence.time = interval_of(time);
  if (cycles.pairs > 0 && cycles.pairs == time.pairs) evidence.cycles = interval_of(cycles);
  evidence.paired = true;
  evidence.pairs = time.pairs;
  evidence.slower = time.slower;
  evidence.faster = time.faster;
  return evidence;
}

std::vector<TimedPair> pairs_by_round(const CellTiming& base, const CellTiming& now) {
  std::vector<TimedPair> pairs;
  for (const BlockMedian& block : now.blocks) {
    const auto partner = std::ranges::find(base.blocks, block.round, &BlockMedian::round);
    if (partner == base.blocks.end()) continue;
    pairs.push_back({partner->us, block.us, base.sm_mhz, now.sm_mhz});
  }
  return pairs;
}

SpeedEvidence evidence_of(const CellTiming& base, const CellTiming& now) {
  SpeedEvidence evidence;
  evidence.base_us = base.median_us;
  evidence.new_us = now.median_us;
  evidence.time = {now.median_us / base.median_us, now.lo_us / base.hi_us, now.hi_us / base.lo_us};
  if (base.sm_mhz > 0 && now.sm_mhz > 0) {
    evidence.cycles = scaled(evidence.time, now.sm_mhz / base.sm_mhz);
  }
  return evidence;
}

double SpeedLimits::edge(double base_us) const {
  return std::max({effect, 3 * aa_spread, base_us > 0 ? floor_us / base_us : 0});
}

Judgement judge_speed(const SpeedEvidence& evidence, const SpeedLimits& limits) {
  const RatioInterval& time = evidence.time;
  const double edge = limits.edge(evidence.base_us);
  if (evidence.paired && evidence.pairs < fewest_values(kLevel)) {
    return doubtful(Doubt::kFewPairs, fmt::format("{} pairs: a 99 % interval takes {}",
                                                  evidence.pairs, fewest_values(kLevel)));
  }
  const bool slower = time.lo > 1 && time.median > 1 + edge;
  const bool faster = time.hi < 1 && time.median < 1 / (1 + edge);
  if (slower || faster) {
    const auto& cycles = evidence.cycles;
    if (cycles && !(slower ? cycles->lo > 1 : cycles->hi < 1)) {
      return doubtful(Doubt::kClock, "the change is not there in clock cycles");
    }
    return {slower ? GateVerdict::kRegressed : GateVerdict::kImproved};
  }
  if (time.lo > 1 / (1 + edge) && time.hi < 1 + edge) return {GateVerdict::kSame};
  return doubtful(Doubt::kStraddles, "the interval holds both a change and none");
}

Judgement screen_speed(const SpeedEvidence& evidence, const SpeedLimits& limits) {
  const double change_us = evidence.new_us - evidence.base_us;
  const bool apart = evidence.time.lo > 1 + kSuspectChange / 2;
  if (change_us > limits.floor_us && (evidence.time.median > 1 + kSuspectChange || apart)) {
    return {GateVerdict::kSuspect};
  }
  return judge_speed(evidence, limits);
}

bool correct_for_many(std::span<JudgedSpeed> cells) {
  if (cells.size() <= kMostUncorrected) return false;
  for (const GateVerdict change : {GateVerdict::kRegressed, GateVerdict::kImproved}) {
    std::vector<double> p_values;
    for (const JudgedSpeed& cell : cells) {
      const SpeedEvidence& evidence = cell.evidence;
      const bool regressed = change == GateVerdict::kRegressed;
      p_values.push_back(sign_test(regressed ? evidence.slower : evidence.faster, evidence.pairs));
    }
    const std::vector<bool> refused = holm(p_values, kFamilyError);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      Judgement& judgement = cells[i].judgement;
      if (judgement.verdict != change || refused[i]) continue;
      judgement = doubtful(Doubt::kManyCells,
                           fmt::format("p = {:.2g} is no surprise among {} cells (Holm, {} %)",
                                       p_values[i], cells.size(), 100 * kFamilyError));
    }
  }
  return true;
}

}  // namespace attnbench
