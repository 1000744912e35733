// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/answer.h"

#include <gtest/gtest.h>

#include "lib/result/testing/sample_run.h"

namespace attnbench {
namespace {

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
