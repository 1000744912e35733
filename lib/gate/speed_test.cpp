// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/speed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace attnbench {
namespace {

std::vector<TimedPair> pairs_of(int n, double base_us, double ratio) {
  return std::vector<TimedPair>(static_cast<std::size_t>(n), {base_us, base_us * ratio});
}

GateVerdict verdict_of_pairs(const std::vector<TimedPair>& pairs, const SpeedLimits& limits = {}) {
  return judge_speed(evidence_of(pairs), limits).verdict;
}

TEST(Speed, is_judged_by_interval_effect_and_floor) {
  EXPECT_EQ(verdict_of_pairs(pairs_of(20, 100, 1.03)), GateVerdict::kRegressed);
  EXPECT_EQ(verdict_of_pairs(pairs_of(20, 100, 1 / 1.03)), GateVerdict::kImproved);
  EXPECT_EQ(verdict_of_pairs(pairs_of(20, 100, 1.01)), GateVerdict::kSame);
  EXPECT_EQ(verdict_of_pairs(pairs_of(20, 100, 1 / 1.01)), GateVerdict::kSame);
  EXPECT_EQ(verdict_of_pairs(pairs_of(20, 5, 1.09)), GateVerdict::kSame) << "0.45 us";
  EXPECT_EQ(verdict_of_pairs(pairs_of(20, 5, 1.11)), GateVerdict::kRegressed) << "0.55 us";
  EXPECT_EQ(verdict_of_pairs(pairs_of(20, 100, 1.03), {.effect = 0.05}), GateVerdict::kSame);
  EXPECT_EQ(verdict_of_pairs(pairs_of(20, 100, 1.03), {.aa_spread = 0.011}), GateVerdict::kSame)
      << "three times what equal cells differ by";
}

TEST(Speed, of_an_interval_that_holds_both_answers_is_inconclusive) {
  std::vector<TimedPair> pairs;
  for (int i = 0; i < 20; ++i) pairs.push_back({100, i % 2 == 0 ? 96.0 : 110.0});
  const Judgement judgement = judge_speed(evidence_of(pairs), {});
  EXPECT_EQ(judgement.verdict, GateVerdict::kInconclusive);
  EXPECT_EQ(judgement.doubt, Doubt::kStraddles);
}

TEST(Speed, of_fewer_than_eight_pairs_is_inconclusive) {
  EXPECT_EQ(judge_speed(evidence_of(pairs_of(7, 100, 1.5)), {}).doubt, Doubt::kFewPairs);
  EXPECT_EQ(verdict_of_pairs(pairs_of(8, 100, 1.5)), GateVerdict::kRegressed);
  std::vector<TimedPair> broken = pairs_of(8, 100, 1.5);
  broken[3].new_us = std::numeric_limits<double>::quiet_NaN();
  broken[4].base_us = 0;
  EXPECT_EQ(judge_speed(evidence_of(broken), {}).doubt, Doubt::kFewPairs)
      << "a pair without two times is no pair";
}

TEST(Speed, that_changed_with_the_clock_alone_is_inconclusive) {
  std::vector<TimedPair> pairs = pairs_of(20, 100, 1.05);
  for (TimedPair& pair : pairs) {
    pair.base_mhz = 1980;
    pair.new_mhz = 1980 / 1.05;
  }
  EXPECT_EQ(judge_speed(evidence_of(pairs), {}).doubt, Doubt::kClock);
  for (TimedPair& pair : pairs) pair.new_mhz = 1970;
  EXPECT_EQ(verdict_of_pairs(pairs), GateVerdict::kRegressed);
}

TEST(Speed, has_no_cycles_where_the_clock_of_a_pair_is_unknown) {
  std::vector<TimedPair> pairs = pairs_of(20, 100, 1.05);
  for (TimedPair& pair : pairs) pair.base_mhz = 1980, pair.new_mhz = 1980 / 1.05;
  EXPECT_TRUE(evidence_of(pairs).cycles);
  pairs[3].new_mhz = 0;
  EXPECT_FALSE(evidence_of(pairs).cycles);
}

TEST(Speed, of_two_runs_counts_the_cycles_of_each_run_s_own_clock) {
  CellTiming base, now;
  base.median_us = base.lo_us = base.hi_us = 100;
  now.median_us = now.lo_us = now.hi_us = 110;
  EXPECT_FALSE(evidence_of(base, now).cycles);
  base.sm_mhz = 1980;
  now.sm_mhz = 1800;
  EXPECT_NEAR(evidence_of(base, now).cycles->median, 1, 1e-12);
}

TEST(Speed, of_two_runs_takes_the_farther_ends_of_both_intervals) {
  CellTiming base, now;
  base.median_us = 100;
  base.lo_us = 99;
  base.hi_us = 101;
  now.median_us = 110;
  now.lo_us = 108;
  now.hi_us = 112;
  const SpeedEvidence evidence = evidence_of(base, now);
  EXPECT_NEAR(evidence.time.lo, 108.0 / 101, 1e-12);
  EXPECT_NEAR(evidence.time.hi, 112.0 / 99, 1e-12);
  EXPECT_EQ(judge_speed(evidence, {}).verdict, GateVerdict::kRegressed);
  EXPECT_EQ(screen_speed(evidence, {}).verdict, GateVerdict::kSuspect);
}

TEST(Speed, screened_suspects_from_one_percent_on_but_never_below_the_floor) {
  const auto screened = [](double base_us, double ratio) {
    CellTiming base, now;
    base.median_us = base.lo_us = base.hi_us = base_us;
    now.median_us = now.lo_us = now.hi_us = base_us * ratio;
    return screen_speed(evidence_of(base, now), {}).verdict;
  };
  EXPECT_EQ(screened(100, 1.011), GateVerdict::kSuspect);
  EXPECT_EQ(screened(1000, 1.006), GateVerdict::kSuspect) << "the intervals lie apart";
  EXPECT_EQ(screened(1000, 1.004), GateVerdict::kSame);
  EXPECT_EQ(screened(10, 1.03), GateVerdict::kSame) << "0.3 us";
}

TEST(Speed, pairs_the_rounds_that_saw_both_cells) {
  CellTiming base, now;
  base.blocks = {{0, 100}, {1, 200}, {3, 300}};
  now.blocks = {{1, 210}, {2, 1}, {3, 330}};
  base.sm_mhz = 1000;
  now.sm_mhz = 900;
  const std::vector<TimedPair> pairs = pairs_by_round(base, now);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].base_us, 200);
  EXPECT_EQ(pairs[1].new_us, 330);
  EXPECT_EQ(pairs[1].new_mhz, 900);
}

TEST(Speed, of_many_cells_is_corrected_by_holm) {
  // 17 of 20 slower: p = 0.0013, enough alone and not among sixty.
  std::vector<TimedPair> weak = pairs_of(20, 100, 1.03);
  for (int i = 0; i < 3; ++i) weak[static_cast<std::size_t>(i)].new_us = 99.5;
  const SpeedEvidence chance = evidence_of(weak), sure = evidence_of(pairs_of(20, 100, 1.03));
  ASSERT_EQ(judge_speed(chance, {}).verdict, GateVerdict::kRegressed);
  std::vector<JudgedSpeed> cells(50, {evidence_of(pairs_of(20, 100, 1)), {GateVerdict::kSame}});
  cells[0] = {chance, {GateVerdict::kRegressed}};
  EXPECT_FALSE(correct_for_many(cells));
  EXPECT_EQ(cells[0].judgement.verdict, GateVerdict::kRegressed);
  cells.resize(60, cells.back());
  cells[1] = {sure, {GateVerdict::kRegressed}};
  EXPECT_TRUE(correct_for_many(cells));
  EXPECT_EQ(cells[0].judgement.doubt, Doubt::kManyCells);
  EXPECT_EQ(cells[1].judgement.verdict, GateVerdict::kRegressed);
  const auto mirrored = [](SpeedEvidence evidence) {
    std::swap(evidence.slower, evidence.faster);
    return evidence;
  };
  cells[0] = {mirrored(chance), {GateVerdict::kImproved}};
  cells[1] = {mirrored(sure), {GateVerdict::kImproved}};
  EXPECT_TRUE(correct_for_many(cells));
  EXPECT_EQ(cells[0].judgement.doubt, Doubt::kManyCells);
  EXPECT_EQ(cells[1].judgement.verdict, GateVerdict::kImproved);
}

/// Sizes of the noise in a pair of fresh processes, as standard deviations of logarithms.
struct Regime {
  const char* name;
  double process;  ///< of each process: where its memory lies
  double drift;    ///< of a random walk from pair to pair: clocks, heat
  double launch;   ///< of a launch; a block is the median of ten
};
constexpr Regime kRegimes[] = {{"quiet", 0.002, 0.0002, 0.005},
                               {"process", 0.008, 0.0002, 0.005},
                               {"drift", 0.002, 0.003, 0.005},
                               {"both", 0.008, 0.003, 0.01}};

class Machine {
 public:
  Machine(const Regime& regime, std::uint64_t seed) : regime_(regime), random_(seed) {}

  std::vector<TimedPair> measure(int pairs, double change) {
    std::vector<TimedPair> measured;
    for (int i = 0; i < pairs; ++i) {
      const double base = process(1), now = process(1 + change);
      measured.push_back({base, now});
    }
    return measured;
  }

 private:
  double normal(double sd) { return sd * std::normal_distribution<double>()(random_); }
  /// The block median of a fresh process. The median of ten launches spreads by 0.38 of one's.
  double process(double ratio) {
    weather_ += normal(regime_.drift);
    return 100 * ratio *
           std::exp(weather_ + normal(regime_.process) + normal(0.38 * regime_.launch));
  }

  Regime regime_;
  std::mt19937_64 random_;
  double weather_ = 0;
};

/// The share of trials that end as `wanted`, with the repeat that an open one gets.
double share(const Regime& regime, double change, GateVerdict wanted) {
  constexpr int kTrials = 1500;
  Machine machine(regime, 20260101);
  int count = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    GateVerdict verdict = verdict_of_pairs(machine.measure(20, change));
    if (verdict == GateVerdict::kInconclusive) {
      verdict = verdict_of_pairs(machine.measure(30, change));
    }
    count += verdict == wanted ? 1 : 0;
  }
  return static_cast<double>(count) / kTrials;
}

class SpeedRule : public testing::TestWithParam<Regime> {};

TEST_P(SpeedRule, raises_a_false_alarm_in_less_than_one_of_a_hundred_cells_without_change) {
  EXPECT_LT(share(GetParam(), 0, GateVerdict::kRegressed), 0.01);
  EXPECT_LT(share(GetParam(), 0, GateVerdict::kImproved), 0.01);
}

TEST_P(SpeedRule, finds_more_than_95_of_a_hundred_changes_by_four_percent) {
  EXPECT_GT(share(GetParam(), 0.04, GateVerdict::kRegressed), 0.95);
  EXPECT_GT(share(GetParam(), -0.04, GateVerdict::kImproved), 0.95);
}

TEST_P(SpeedRule, calls_equal_cells_the_same) {
  EXPECT_GT(share(GetParam(), 0, GateVerdict::kSame), 0.95);
}

INSTANTIATE_TEST_SUITE_P(Regimes, SpeedRule, testing::ValuesIn(kRegimes),
                         [](const auto& regime) { return std::string(regime.param.name); });

}  // namespace
}  // namespace attnbench
