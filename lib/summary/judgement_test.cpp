// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/judgement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "lib/summary/judgement_text.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using enum CandidateVerdict;

Record cell(const char* case_id, const char* backend, double median_us, double half_width = 0.01) {
  Record r;
  r.case_id = case_id;
  r.backend = backend;
  r.outcome = Completed{Check::kPassed, Speed::kClaimed};
  r.timing.status = MeasureStatus::kConverged;
  r.timing.median_us = median_us;
  r.timing.lo_us = median_us * (1 - half_width);
  r.timing.hi_us = median_us * (1 + half_width);
  r.timing.rounds = r.timing.samples = 12;
  return r;
}

Record ended_as(const char* case_id, const char* backend, Outcome outcome) {
  Record r = cell(case_id, backend, 10);
  r.timing = {};
  r.outcome = std::move(outcome);
  return r;
}

Record of_graph(Record r) {
  r.launch = LaunchMode::kGraph;
  return r;
}

CandidateJudgement judged(std::vector<Record> records) {
  RunResult run;
  run.records = std::move(records);
  return candidate_judgement(run, {"mine", "mine_too"}, {"rival", "slow_rival"});
}

CandidateVerdict verdict_beside_a_rival(Record record) {
  return judged({cell("a", "rival", 10), std::move(record)}).verdict;
}

TEST(Judgement, accepts_a_candidate_that_is_right_and_scores_it_against_the_fastest_rival) {
  const CandidateJudgement found =
      judged({cell("a", "mine", 5), cell("a", "slow_rival", 40), cell("a", "rival", 10),
              cell("b", "mine", 5), cell("b", "slow_rival", 40)});
  EXPECT_EQ(found.verdict, kAccepted);
  ASSERT_TRUE(found.score);
  EXPECT_NEAR(found.score->value, 4, 1e-9);  // of 2 and 8
  ASSERT_EQ(found.cases.size(), 2);
  EXPECT_EQ(found.cases[0].rival, "rival");
  EXPECT_EQ(found.cases[1].rival, "slow_rival");
}

TEST(Judgement, scores_a_twin_of_the_rival_1) {
  Record mine = cell("a", "mine", 10), rival = cell("a", "rival", 10);
  mine.roofline = rival.roofline = 1.5;  // both counted as 15
  EXPECT_NEAR(judged({mine, rival}).score->value, 1, 1e-12);
}

TEST(Judgement, gives_no_time_below_the_roofline) {
  Record mine = cell("a", "mine", 1);
  mine.roofline = 4;
  const Score score = *judged({mine, cell("a", "rival", 8)}).score;
  EXPECT_NEAR(score.value, 2, 1e-12);
  EXPECT_NEAR(score.hi, 2 * 1.01, 1e-9) << "only the rival's time is open";
}

TEST(Judgement, adds_the_squares_of_independent_errors) {
  const Score one = *judged({cell("a", "mine", 5), cell("a", "rival", 10)}).score;
  EXPECT_NEAR(std::log(one.hi / one.value), std::hypot(std::log(1.01), std::log(1 / 0.99)), 1e-9);
  const Score four = *judged({cell("a", "mine", 5), cell("a", "rival", 10), cell("b", "mine", 5),
                              cell("b", "rival", 10), cell("c", "mine", 5), cell("c", "rival", 10),
                              cell("d", "mine", 5), cell("d", "rival", 10)})
                          .score;
  EXPECT_NEAR(std::log(four.hi / four.value), std::log(one.hi / one.value) / 2, 1e-9);
}

TEST(Judgement, has_no_interval_where_a_cell_has_none) {
  Record few = cell("a", "mine", 5);
  few.timing.rounds = 3;
  const CandidateJudgement found = judged({few, cell("a", "rival", 10)});
  EXPECT_EQ(found.score->lo, 0);
  EXPECT_TRUE(judgement_json(found)["score"]["lo"].is_null());
}

TEST(Judgement, weighs_each_case_the_same_however_many_cells_it_has) {
  Record serving = cell("a", "mine", 5), rival_serving = cell("a", "rival", 10);
  serving.cache = rival_serving.cache = CacheState::kServing;
  const CandidateJudgement found =
      judged({cell("a", "mine", 5), cell("a", "rival", 10), serving, rival_serving,
              cell("b", "mine", 5), cell("b", "rival", 40)});
  EXPECT_NEAR(found.score->value, 4, 1e-9);  // of 2 and 8
}

TEST(Judgement, takes_the_eager_time_of_a_side_without_graphs) {
  const Record no_graph = of_graph(ended_as("a", "mine", Unsupported{"no CUDA graph"}));
  const CandidateJudgement found = judged(
      {cell("a", "mine", 10), no_graph, cell("a", "rival", 10), of_graph(cell("a", "rival", 5))});
  EXPECT_EQ(found.verdict, kAccepted);
  EXPECT_NEAR(found.score->value, std::sqrt(0.5), 1e-9);
}

TEST(Judgement, lets_backends_of_one_file_share_the_cases) {
  EXPECT_EQ(judged({cell("a", "mine", 5), ended_as("a", "mine_too", Unsupported{"decodes only"}),
                    ended_as("b", "mine", Unsupported{"prompts only"}), cell("b", "mine_too", 5),
                    cell("a", "rival", 10), cell("b", "rival", 10)})
                .verdict,
            kAccepted);
}

TEST(Judgement, does_not_accept_a_candidate_that_leaves_out_a_case) {
  const CandidateJudgement found =
      judged({cell("a", "mine", 5), ended_as("b", "mine", Unsupported{"prompts only"}),
              cell("a", "rival", 10), cell("b", "rival", 10)});
  EXPECT_EQ(found.verdict, kInconclusive);
  EXPECT_FALSE(found.score);
  ASSERT_EQ(found.reasons.size(), 1);
  EXPECT_EQ(found.reasons[0].text, "prompts only");
}

TEST(Judgement, maps_each_end_of_a_cell_to_a_verdict) {
  EXPECT_EQ(verdict_beside_a_rival(ended_as("a", "mine", Crashed{"signal 11"})), kCrashed);
  EXPECT_EQ(verdict_beside_a_rival(ended_as("a", "mine", Incorrect{"sample 3 is wrong"})),
            kIncorrect);
  EXPECT_EQ(verdict_beside_a_rival(ended_as("a", "mine", Unsupported{"no"})), kInconclusive);
  EXPECT_EQ(verdict_beside_a_rival(ended_as("a", "mine", Skipped{"interrupted"})), kInconclusive);
  EXPECT_EQ(verdict_beside_a_rival(
                ended_as("a", "mine", Completed{Check::kPassed, Speed::kNone, "it waits"})),
            kInconclusive);
  Record record = cell("a", "mine", 5);
  record.outcome = Completed{Check::kNotVerified, Speed::kClaimed};
  EXPECT_EQ(verdict_beside_a_rival(record), kInconclusive);
  record.outcome = Completed{Check::kMistrusted, Speed::kClaimed, "zeros would pass"};
  EXPECT_EQ(verdict_beside_a_rival(record), kInconclusive);
}

TEST(Judgement, suspects_an_impossible_speed_and_a_slowed_clock_on_a_quiet_machine_only) {
  Record fast = cell("a", "mine", 5), slowed = cell("a", "mine", 5);
  fast.outcome = Completed{Check::kPassed, Speed::kImpossible, "above the ceiling"};
  slowed.outcome = Completed{Check::kMistrusted, Speed::kClaimed, "its clock was slowed"};
  slowed.timing.slow_clock.visits = 12;
  for (Record each : {fast, slowed}) {
    EXPECT_EQ(verdict_beside_a_rival(each), kCheatingSuspected) << each.reason();
    each.others = {1.5, 2};
    EXPECT_EQ(verdict_beside_a_rival(each), kInconclusive) << each.reason();
  }
  slowed.timing.slow_clock.visits = 9;  // of 12: a busy machine may be that slow
  EXPECT_EQ(verdict_beside_a_rival(slowed), kInconclusive);
}

TEST(Judgement, blames_the_ceilings_where_a_rival_beats_them_too) {
  Record mine = cell("a", "mine", 5), rival = cell("a", "rival", 5);
  mine.outcome = rival.outcome = Completed{Check::kPassed, Speed::kImpossible, "above the ceiling"};
  EXPECT_EQ(judged({mine, rival}).verdict, kInconclusive);
}

TEST(Judgement, gives_the_heaviest_verdict_and_its_reason_first) {
  const CandidateJudgement found =
      judged({ended_as("a", "mine", Unsupported{"no"}), cell("a", "rival", 10),
              ended_as("b", "mine", Crashed{"signal 11"}),
              ended_as("c", "mine", Incorrect{"sample 3 is wrong"})});
  EXPECT_EQ(found.verdict, kIncorrect);
  EXPECT_EQ(found.reasons.front().text, "sample 3 is wrong");
  EXPECT_EQ(found.reasons.back().text, "no");
}

TEST(Judgement, is_inconclusive_without_a_converged_cell_a_rival_or_any_cell) {
  Record noisy = cell("a", "mine", 5);
  noisy.timing.status = MeasureStatus::kNoisy;
  EXPECT_EQ(verdict_beside_a_rival(noisy), kInconclusive);
  EXPECT_EQ(judged({cell("a", "mine", 5)}).verdict, kInconclusive);
  EXPECT_EQ(judged({cell("a", "rival", 5)}).reasons.front().text, "nothing was measured");
}

TEST(Judgement, says_which_case_is_not_in_the_score) {
  const CandidateJudgement found =
      judged({cell("a", "mine", 5), cell("a", "rival", 10), cell("b", "mine", 5),
              ended_as("b", "rival", Unsupported{"no"})});
  EXPECT_EQ(found.verdict, kAccepted);
  EXPECT_NEAR(found.score->value, 2, 1e-12);
  EXPECT_THAT(judgement_text(found), HasSubstr("b: no rival has a right time: not in the score"));
}

TEST(Judgement, says_that_other_programs_disturbed_a_score) {
  RunResult run;
  run.records = {cell("a", "mine", 5), cell("a", "rival", 10)};
  run.others = {1.5, 2};
  const CandidateJudgement found = candidate_judgement(run, {"mine"}, {"rival"});
  EXPECT_EQ(found.verdict, kAccepted);
  EXPECT_THAT(judgement_text(found), HasSubstr("\n  other programs kept 1.5 of 2 processors busy"));
}

TEST(Judgement, tells_equal_reasons_of_a_case_once) {
  Record serving = ended_as("a", "mine", Unsupported{"no"});
  serving.cache = CacheState::kServing;
  EXPECT_EQ(judged({ended_as("a", "mine", Unsupported{"no"}), serving, cell("a", "rival", 10)})
                .reasons.size(),
            1);
}

TEST(Judgement, does_not_tell_of_a_graph_where_the_eager_launch_is_wrong) {
  const CandidateJudgement found = judged(
      {ended_as("a", "mine", Incorrect{"sample 3 is wrong"}),
       of_graph(ended_as("a", "mine", Unsupported{"no CUDA graph"})), cell("a", "rival", 10)});
  EXPECT_EQ(found.reasons.size(), 1);
}

TEST(Judgement, prints_the_first_reasons_of_many) {
  std::vector<Record> records{cell("a", "rival", 10)};
  for (const char* id : {"a", "b", "c", "d", "e", "f", "g"}) {
    records.push_back(ended_as(id, "mine", Crashed{"signal 11"}));
  }
  const std::string text = judgement_text(judged(records));
  EXPECT_THAT(text, HasSubstr("  e, mine, cold, eager: signal 11\n  and 2 more reasons"));
}

TEST(Judgement, ends_a_process_with_the_codes_of_the_house) {
  EXPECT_EQ(verdict_exit_code(kAccepted), 0);
  EXPECT_EQ(verdict_exit_code(kInconclusive), 3);
  for (const CandidateVerdict each : {kCrashed, kIncorrect, kCheatingSuspected}) {
    EXPECT_EQ(verdict_exit_code(each), 2);
  }
}

TEST(Judgement, is_printed_with_the_line_that_repeats_a_cell) {
  Record wrong = ended_as("a", "mine", Incorrect{"sample 3 of the eager launches is wrong"});
  wrong.repro = "attnbench run s.yaml";
  const CandidateJudgement found = judged({wrong, cell("a", "rival", 10)});
  EXPECT_EQ(judgement_text(found),
            "incorrect\n  a, mine, cold, eager: sample 3 of the eager launches is wrong\n"
            "  the first one again: attnbench run s.yaml\n");
  const Json json = judgement_json(found);
  EXPECT_EQ(json["verdict"], "incorrect");
  EXPECT_TRUE(json["score"].is_null());
  EXPECT_EQ(json["reasons"][0]["repro"], "attnbench run s.yaml");
}

}  // namespace
}  // namespace attnbench
