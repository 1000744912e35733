// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "lib/result/testing/sample_run.h"

namespace attnbench {
namespace {

using testing::ElementsAre;

/// Passed, with this median and an interval of so many percent to both sides.
Record timed(double median_us, double percent = 1) {
  Record r = sample_run().records[0];
  r.timing.median_us = median_us;
  r.timing.lo_us = median_us * (1 - percent / 100);
  r.timing.hi_us = median_us * (1 + percent / 100);
  r.timing.min_us = median_us * 0.95;
  r.timing.max_us = median_us * 1.05;
  return r;
}

Record of_few_rounds(double median_us) {
  Record r = timed(median_us);
  r.timing.rounds = 5;
  return r;
}

std::vector<std::string> texts(const std::vector<Record>& records) {
  std::vector<std::string> texts;
  for (const Ranking& ranking : rankings(records)) texts.push_back(ranking_text(ranking));
  return texts;
}

TEST(Rankings, are_over_the_fastest) {
  EXPECT_THAT(texts({timed(150), timed(100), timed(5820)}), ElementsAre("1.50", "1.00", "58.2"));
  EXPECT_THAT(texts({timed(100)}), ElementsAre("1.00"));
  EXPECT_THAT(texts({}), ElementsAre());
}

TEST(Rankings, call_it_a_tie_where_intervals_overlap) {
  EXPECT_THAT(texts({timed(100), timed(101), timed(103)}), ElementsAre("1.00 =", "1.01 =", "1.03"));
  EXPECT_THAT(texts({timed(100), timed(103, 3)}), ElementsAre("1.00 =", "1.03 ="));
  EXPECT_THAT(texts({timed(100, 0.1), timed(100.3, 0.1)}), ElementsAre("1.00", "1.00"))
      << "apart, though they print alike";
}

TEST(Rankings, leave_it_open_where_one_has_no_interval) {
  EXPECT_THAT(texts({timed(100), of_few_rounds(150)}), ElementsAre("1.00 ?", "1.50 ?"));
  EXPECT_THAT(texts({of_few_rounds(100), timed(150)}), ElementsAre("1.00 ?", "1.50 ?"));
  EXPECT_THAT(texts({of_few_rounds(100)}), ElementsAre("1.00")) << "nobody else is there";
  EXPECT_THAT(texts({timed(100), of_few_rounds(230)}), ElementsAre("1.00", "2.30"))
      << "each sample takes more than twice as long as any of the fastest";
}

TEST(Rankings, leave_it_open_by_whatever_factor_where_other_programs_took_the_processors) {
  const auto disturbed = [](Record r, double busy_processors) {
    r.others = {busy_processors, 2};
    return r;
  };
  const std::vector<Record> loaded = {disturbed(of_few_rounds(254), 1.5),
                                      disturbed(of_few_rounds(14700), 1.5)};
  EXPECT_THAT(texts(loaded), ElementsAre("1.00 ?", "57.9 ?"));
  EXPECT_THAT(texts({timed(254), disturbed(of_few_rounds(14700), 1.5)}),
              ElementsAre("1.00 ?", "57.9 ?"));
  EXPECT_THAT(texts({disturbed(timed(254), 1.5), disturbed(timed(14700), 1.5)}),
              ElementsAre("1.00", "57.9"))
      << "intervals tell what the load may have done";
  EXPECT_THAT(texts({disturbed(of_few_rounds(254), 0.1), disturbed(of_few_rounds(14700), 0.1)}),
              ElementsAre("1.00", "57.9"))
      << "no more than a twentieth of the machine";
  std::vector<Record> on_gpu = loaded;
  for (Record& r : on_gpu) r.timing.enqueue_us = 2;
  EXPECT_THAT(texts(on_gpu), ElementsAre("1.00", "57.9")) << "a GPU keeps its own time";
}

TEST(OtherPrograms, disturb_from_a_twentieth_of_the_machine_or_half_a_processor_on) {
  EXPECT_FALSE((OtherPrograms{0.1, 2}).disturb());
  EXPECT_TRUE((OtherPrograms{0.11, 2}).disturb());
  EXPECT_FALSE((OtherPrograms{0.5, 64}).disturb());
  EXPECT_TRUE((OtherPrograms{0.51, 64}).disturb());
  EXPECT_FALSE(OtherPrograms{}.disturb());
}

TEST(Rankings, leave_it_open_where_an_overlapping_interval_is_wider_than_asked_for) {
  Record noisy = timed(300, 80), noisy_but_apart = timed(300);
  noisy.timing.status = noisy_but_apart.timing.status = MeasureStatus::kNoisy;
  EXPECT_THAT(texts({timed(100), noisy}), ElementsAre("1.00 ?", "3.00 ?"));
  EXPECT_THAT(texts({timed(100), noisy_but_apart}), ElementsAre("1.00", "3.00"));
  EXPECT_THAT(texts({timed(100), timed(101), noisy}), ElementsAre("1.00 =", "1.01 =", "3.00 ?"));
}

TEST(Rankings, are_those_of_correct_cells_only) {
  Record wrong = timed(10), impossible = timed(10), doubtful = timed(10), unsupported = timed(10);
  wrong.outcome = Incorrect{"wrong", true};
  impossible.outcome = Completed{Check::kPassed, Speed::kImpossible, "too fast"};
  doubtful.outcome = Completed{Check::kMistrusted, Speed::kClaimed, "zeros"};
  unsupported.outcome = Unsupported{"not this"};
  EXPECT_THAT(texts({wrong, timed(100), impossible, doubtful, unsupported}),
              ElementsAre("", "1.00", "", "", ""));
  Record unverified = timed(50);
  unverified.outcome = Completed{Check::kNotVerified, Speed::kClaimed};
  EXPECT_THAT(texts({unverified, timed(100)}), ElementsAre("1.00", "2.00"));
}

TEST(Rankings, compare_like_with_like) {
  Record other = timed(10);
  const auto expect_apart = [&](auto change) {
    Record changed = other;
    change(changed);
    EXPECT_THAT(texts({timed(100), changed}), ElementsAre("1.00", "1.00"));
  };
  EXPECT_THAT(texts({timed(100), other}), ElementsAre("10.0", "1.00"));
  expect_apart([](Record& r) { r.scenario = "another"; });
  expect_apart([](Record& r) { r.case_id = "another"; });
  expect_apart([](Record& r) { r.step = StepPart::kBoth; });
  expect_apart([](Record& r) { r.cache = CacheState::kWarm; });
  expect_apart([](Record& r) { r.launch = LaunchMode::kGraph; });
}

Record figure(const char* case_id, const char* backend, double median_us, int rounds = 12) {
  Record r = sample_run().records[0];
  r.case_id = case_id;
  r.backend = backend;
  r.timing.median_us = r.timing.min_us = r.timing.max_us = median_us;
  r.timing.lo_us = r.timing.hi_us = median_us;
  r.timing.rounds = rounds;
  if (rounds < 6) r.timing.status = MeasureStatus::kNoisy;
  return r;
}

std::string answer(std::vector<Record> records) {
  RunResult run = sample_run();
  run.records = std::move(records);
  return answer_text(run);
}

TEST(Answer, names_the_backend_that_is_fastest_most_often_and_how_far_it_is_behind_elsewhere) {
  EXPECT_EQ(answer({figure("a", "x", 100), figure("a", "y", 150), figure("b", "x", 117),
                    figure("b", "y", 100), figure("c", "x", 100), figure("c", "y", 110)}),
            "x is fastest in 2 of 3 cases, 1.00-1.17 of the best");
}

TEST(Answer, counts_figures_without_a_good_interval_and_names_what_failed) {
  Record wrong = figure("b", "y", 10);
  wrong.outcome = Incorrect{"wrong", true};
  EXPECT_EQ(answer({figure("a", "x", 100), figure("a", "y", 300, 3), figure("b", "x", 100), wrong}),
            "x is fastest in 1 of 1 case, 1.00 of the best; 1 figure uncertain; y failed in 1");
}

TEST(Answer, names_a_few_of_many_that_failed) {
  std::vector<Record> records{figure("a", "x", 100), figure("a", "y", 110)};
  for (const char* name : {"f1", "f2", "f3", "f4", "f5"}) {
    records.push_back(figure("a", name, 10));
    records.back().outcome = Incorrect{"wrong", true};
  }
  const std::string four =
      "x is fastest in 1 of 1 case, 1.00 of the best; f1 failed in 1; f2 failed in 1; "
      "f3 failed in 1; f4 failed in 1; ";
  EXPECT_EQ(answer(records), four + "f5 failed in 1");
  records.push_back(figure("a", "f6", 10));
  records.back().outcome = Incorrect{"wrong", true};
  EXPECT_EQ(answer(records), four + "2 other backends failed");
}

TEST(Answer, does_not_call_a_backend_fastest_where_that_is_open) {
  EXPECT_EQ(answer({figure("a", "x", 100, 3), figure("a", "y", 110, 3)}),
            "no backend is known to be fastest, x leads in 1 of 1 case, 1.00 of the best; "
            "2 figures uncertain");
}

TEST(Answer, speaks_of_cells_where_a_case_is_timed_in_several_ways) {
  Record warm = figure("a", "x", 50), other = figure("a", "y", 60);
  warm.cache = other.cache = CacheState::kWarm;
  EXPECT_EQ(answer({figure("a", "x", 100), figure("a", "y", 150), warm, other}),
            "x is fastest in 2 of 2 cells, 1.00 of the best");
}

TEST(Answer, is_none_where_nothing_is_compared) {
  EXPECT_EQ(answer({figure("a", "x", 100), figure("b", "y", 100)}), "");
}

}  // namespace
}  // namespace attnbench
