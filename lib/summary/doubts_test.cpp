// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/doubts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "lib/result/testing/sample_run.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// So many right cells that converged, on a machine with nothing else to do.
RunResult calm_run(int cells) {
  RunResult run = sample_run();
  const Record right = run.records[0];
  run.records.assign(static_cast<std::size_t>(cells), right);
  run.others = {0.01, 2};
  run.interrupted = false;
  return run;
}

Outcome mistrusted(std::string reason) {
  return Completed{Check::kMistrusted, Speed::kClaimed, std::move(reason)};
}

TEST(Doubts, a_calm_run_has_none) { EXPECT_THAT(doubts_of(calm_run(3)), IsEmpty()); }

TEST(Doubts, name_what_disturbed_slowed_down_or_ended_the_run) {
  RunResult run = calm_run(3);
  run.others = {1.4, 2};
  run.records[0].timing.status = run.records[1].timing.status = MeasureStatus::kThrottled;
  run.records[2].outcome = Completed{Check::kNotVerified, Speed::kClaimed};
  run.interrupted = true;
  EXPECT_THAT(doubts_of(run),
              ElementsAre("other programs kept 1.4 of 2 processors busy",
                          "2 figures are of a device that slowed down (throttled)",
                          "1 cell is not verified: its time may be that of a wrong result",
                          "the run was interrupted"));
}

TEST(Doubts, leave_busy_processors_out_where_a_gpu_timed_all) {
  RunResult run = calm_run(2);
  run.others = {1.4, 2};
  for (Record& record : run.records) record.timing.enqueue_us = 3;
  EXPECT_THAT(doubts_of(run), IsEmpty());
}

TEST(Doubts, count_cells_that_are_mistrusted_by_their_reasons) {
  RunResult run = calm_run(4);
  run.records[0].outcome = run.records[1].outcome = mistrusted("zeros would pass");
  run.records[3].outcome = mistrusted("the mean of V would pass");
  EXPECT_THAT(doubts_of(run), ElementsAre("2 cells are MISTRUSTED: zeros would pass",
                                          "1 cell is MISTRUSTED: the mean of V would pass"));
}

TEST(Doubts, give_one_of_many_reasons) {
  RunResult run = calm_run(5);
  for (std::size_t i = 0; i < 5; ++i) run.records[i].outcome = mistrusted(std::to_string(i));
  EXPECT_THAT(doubts_of(run), ElementsAre("5 cells are MISTRUSTED, for 5 reasons, such as: 0"));
}

}  // namespace
}  // namespace attnbench
