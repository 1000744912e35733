// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/backend_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "lib/result/testing/sample_run.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Record timed(const char* case_id, const char* backend, double median_us) {
  Record r = sample_run().records[0];
  r.case_id = case_id;
  r.backend = backend;
  r.timing.median_us = median_us;
  r.timing.lo_us = r.timing.hi_us = median_us;
  return r;
}

Record ended(const char* case_id, const char* backend, Outcome outcome) {
  Record r = timed(case_id, backend, 1);
  r.outcome = std::move(outcome);
  return r;
}

/// Three cases: `steady` is twice as slow, as fast and fastest; `picky` takes two, once wrong.
RunResult sample() {
  RunResult run = sample_run();
  Record noisy = timed("a", "steady", 200);
  noisy.timing.status = MeasureStatus::kTimeout;
  run.records = {noisy,
                 timed("a", "picky", 100),
                 timed("b", "steady", 50),
                 timed("b", "picky", 50),
                 ended("b", "never", Unsupported{"no"}),
                 timed("c", "steady", 70),
                 ended("c", "picky", Incorrect{"wrong", true}),
                 ended("c", "never", Skipped{"late"})};
  return run;
}

TEST(BackendSummaries, count_what_ran_won_failed_and_stayed_noisy) {
  const std::vector<BackendSummary> summaries = backend_summaries(sample());
  ASSERT_EQ(summaries.size(), 2u) << "one was never tried";
  const BackendSummary &steady = summaries[0], &picky = summaries[1];
  EXPECT_EQ(picky.backend, "picky") << "the one that failed last, though it is faster";
  EXPECT_EQ(picky.ran, 2 + 1);
  EXPECT_EQ(picky.fastest, 2) << "a tie among them";
  EXPECT_EQ(picky.failed, 1);
  EXPECT_EQ(picky.noisy, 0);
  EXPECT_EQ(picky.geomean, 0) << "none over the cases that it happened to get right";
  EXPECT_EQ(steady.ran, 3);
  EXPECT_EQ(steady.fastest, 2);
  EXPECT_EQ(steady.failed, 0);
  EXPECT_EQ(steady.noisy, 1);
  EXPECT_NEAR(steady.geomean, 1.4142, 1e-4) << "the root of 2 x 1: nobody else got c right";
}

TEST(BackendSummaries, put_the_faster_of_those_that_are_right_first) {
  RunResult run = sample();
  std::erase_if(run.records, [](const Record& r) { return r.case_id == "c"; });
  const std::vector<BackendSummary> summaries = backend_summaries(run);
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_EQ(summaries[0].backend, "picky");
  EXPECT_DOUBLE_EQ(summaries[0].geomean, 1);
}

std::vector<std::string> order_of(std::vector<Record> records) {
  RunResult run = sample_run();
  run.records = std::move(records);
  std::vector<std::string> names;
  for (const BackendSummary& each : backend_summaries(run)) names.push_back(each.backend);
  return names;
}

TEST(BackendSummaries, put_a_backend_of_few_cells_below_those_of_many) {
  std::vector<Record> records = {timed("a", "special", 50)};
  for (const char* const id : {"a", "b", "c", "d"}) {
    records.push_back(timed(id, "slow", 900));
    records.push_back(timed(id, "quick", 100));
  }
  EXPECT_THAT(order_of(records), ElementsAre("quick", "slow", "special"))
      << "one cell of four, though it is the fastest there";
}

TEST(BackendSummaries, compare_two_backends_over_the_cells_that_both_have_right) {
  // Where all three ran, `wide` is faster than `half`; its mean suffers where `half` did not run.
  std::vector<Record> records;
  for (const char* const id : {"a", "b"}) {
    records.push_back(timed(id, "half", 12));
    records.push_back(timed(id, "wide", 11));
    records.push_back(timed(id, "best", 10));
  }
  for (const char* const id : {"c", "d"}) {
    records.push_back(timed(id, "wide", 100));
    records.push_back(timed(id, "best", 10));
  }
  EXPECT_THAT(order_of(records), ElementsAre("best", "wide", "half"));
  for (Record& r : records) {
    if (r.backend == "half") r.timing.median_us = 5;
  }
  EXPECT_THAT(order_of(records), ElementsAre("half", "best", "wide")) << "half of the cells do";
  records.push_back(timed("e", "wide", 11));
  records.push_back(timed("e", "best", 10));
  EXPECT_THAT(order_of(records), ElementsAre("best", "wide", "half")) << "two of five do not";
}

TEST(BackendSummaries, put_those_without_a_rival_below_and_those_that_failed_last) {
  const std::vector<Record> records = {
      timed("a", "one", 2),   ended("a", "wrong", Incorrect{"wrong", true}),
      timed("a", "two", 1),   timed("b", "wrong", 1),
      timed("b", "two", 3),   timed("c", "lonely", 1),
      timed("d", "lonely", 1)};
  EXPECT_THAT(order_of(records), ElementsAre("two", "one", "lonely", "wrong"));
}

TEST(BackendSummaries, take_two_backends_and_two_cases) {
  RunResult run = sample();
  run.records.resize(2);
  EXPECT_THAT(backend_summaries(run), IsEmpty());
  EXPECT_EQ(terminal_text(summary_section(run), 100) + markdown_text(summary_section(run)), "");
  run = sample();
  std::erase_if(run.records, [](const Record& r) { return r.backend == "picky"; });
  EXPECT_THAT(backend_summaries(run), IsEmpty());
}

TEST(BackendSummaries, are_tables) {
  EXPECT_EQ(
      terminal_text(summary_section(sample(), 100), 100),
      "\n"
      "  backend   cases  fastest  geomean vs best  failed  noisy\n"
      "  steady   3 of 3        2             1.41              1\n"
      "  picky    3 of 3        2                –       1\n"
      "  order: most right cells first, but each above the first that it beats by geomean over the "
      "cells\n"
      "  that both have right, if these are half of either's · fastest: where no backend was "
      "faster, ties\n"
      "  included, figures with a ? not · geomean vs best: geometric mean of vs best where another "
      "backend\n"
      "  is right, too; none of one that failed · failed: wrong, crashed or impossible · noisy: ± "
      "wider\n"
      "  than asked for, or missing\n");
  EXPECT_EQ(
      markdown_text(summary_section(sample())),
      "\n"
      "| backend | cases | fastest | geomean vs best | failed | noisy |\n"
      "|---|--:|--:|--:|--:|--:|\n"
      "| steady | 3 of 3 | 2 | 1.41 |  | 1 |\n"
      "| picky | 3 of 3 | 2 | – | 1 |  |\n"
      "\n"
      "order: most right cells first, but each above the first that it beats by geomean over the "
      "cells that both have right, if these are half of either's · fastest: where no backend was "
      "faster, ties included, figures with a ? not · geomean vs best: geometric mean of vs best "
      "where another backend is right, too; none of one that failed · failed: wrong, crashed or "
      "impossible · noisy: ± wider than asked for, or missing\n");
}

TEST(BackendSummaries, speak_of_cells_where_cases_are_timed_in_several_ways) {
  RunResult run = sample();
  Record warm = run.records[0];
  warm.cache = CacheState::kWarm;
  run.records.push_back(warm);
  EXPECT_THAT(markdown_text(summary_section(run)), HasSubstr("| backend | cells |"));
  EXPECT_THAT(markdown_text(summary_section(run)), HasSubstr("| steady | 4 of 4 |"));
}

TEST(BackendSummaries, fit_a_narrow_terminal) {
  RunResult run = sample();
  for (Record& r : run.records) r.backend += "_with_a_long_name";
  for (const std::size_t width : {40u, 60u, 70u, 80u, 120u}) {
    std::istringstream lines(terminal_text(summary_section(run, width), width));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), width);
  }
}

TEST(BackendSummaries, leave_out_columns_rather_than_digits) {
  const std::string narrow = terminal_text(summary_section(sample(), 40), 40);
  EXPECT_THAT(narrow, HasSubstr("\n  backend  vs best  failed  noisy\n"
                                "  steady      1.41              1\n"
                                "  picky          –       1\n"
                                "  order: most right"));
  EXPECT_THAT(narrow, HasSubstr("vs best: its"));
  EXPECT_THAT(narrow, Not(HasSubstr("…")));
  EXPECT_THAT(narrow, Not(HasSubstr("fastest"))) << "no such column, so nothing to explain";
}

}  // namespace
}  // namespace attnbench
