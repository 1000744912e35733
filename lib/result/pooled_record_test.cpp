// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/pooled_record.h"

#include <gtest/gtest.h>

#include <variant>
#include <vector>

#include "lib/base/error.h"

namespace attnbench {
namespace {

/// A cell as one process measured it.
Record process_with(double median_us) {
  Record record;
  record.outcome = Accepted{.agreement = Agreement::kPassed, .speed = Speed::kClaimed};
  record.timing.status = MeasureStatus::kConverged;
  record.timing.median_us = median_us;
  record.timing.lo_us = median_us - 0.01;
  record.timing.hi_us = median_us + 0.01;
  record.timing.min_us = median_us - 1;
  record.timing.max_us = median_us + 1;
  record.timing.samples = 100;
  record.timing.discarded = 2;
  record.timing.rounds = 12;
  record.samples_checked = 13;
  record.roofline = 10 / median_us;
  return record;
}

std::vector<Record> processes_with(const std::vector<double>& medians_us) {
  std::vector<Record> records;
  for (const double median_us : medians_us) records.push_back(process_with(median_us));
  return records;
}

TEST(PooledRecord, has_an_interval_over_processes) {
  const auto processes = processes_with({20.3, 20.0, 20.1, 19.9, 20.2, 20.1, 19.8, 20.0});
  const Record all = pooled_record(processes, 0.02);
  EXPECT_DOUBLE_EQ(all.timing.median_us, 20.05);
  // With eight values the order statistics that cover 95 % are the first and the last.
  EXPECT_DOUBLE_EQ(all.timing.lo_us, 19.8);
  EXPECT_DOUBLE_EQ(all.timing.hi_us, 20.3);
  EXPECT_EQ(all.timing.rounds, 8);
  ASSERT_EQ(all.timing.blocks.size(), 8U);
  EXPECT_EQ(all.timing.blocks[3].round, 3);
  EXPECT_DOUBLE_EQ(all.timing.blocks[3].us, 19.9);
  EXPECT_EQ(all.timing.samples, 800);
  EXPECT_EQ(all.timing.discarded, 16);
  EXPECT_EQ(all.samples_checked, 104);
  EXPECT_DOUBLE_EQ(all.timing.min_us, 18.8);
  EXPECT_DOUBLE_EQ(all.timing.max_us, 21.3);
  EXPECT_NEAR(all.roofline, 10 / 20.05, 1e-12);
  EXPECT_EQ(all.timing.status, MeasureStatus::kConverged);
}

TEST(PooledRecord, is_noisy_where_processes_differ_by_more_than_the_precision) {
  const auto processes = processes_with({20.3, 20.0, 20.1, 19.9, 20.2, 20.1, 19.8, 20.0});
  const Record all = pooled_record(processes, 0.01);
  EXPECT_EQ(all.timing.status, MeasureStatus::kNoisy);
  EXPECT_EQ(all.reason(), "8 processes give no narrower interval");
}

TEST(PooledRecord, of_five_processes_has_no_interval_that_converges) {
  const auto processes = processes_with({20, 20, 20, 20, 20});
  const Record all = pooled_record(processes, 0.5);
  EXPECT_EQ(all.timing.status, MeasureStatus::kNoisy);
  EXPECT_EQ(all.reason(), "5 processes: too few for an interval");
}

TEST(PooledRecord, says_nothing_of_how_noisy_each_process_was) {
  auto processes = processes_with({20, 20, 20, 20, 20, 20});
  for (Record& record : processes) {
    record.timing.status = MeasureStatus::kNoisy;
    std::get<Accepted>(record.outcome).reason = "noisy after 40 rounds";
  }
  EXPECT_EQ(pooled_record(processes, 0.5).reason(), "");
}

TEST(PooledRecord, is_wrong_where_one_process_was) {
  auto processes = processes_with({20, 20, 20});
  processes[1].outcome = Incorrect{.reason = "in timed sample 7", .timed = true};
  EXPECT_EQ(pooled_record(processes, 0.5).reason(), "in timed sample 7");
}

TEST(PooledRecord, leaves_out_processes_that_did_not_reach_the_cell) {
  auto processes = processes_with({20, 21, 22});
  processes[1].outcome = Skipped{.reason = "interrupted"};
  const Record all = pooled_record(processes, 0.5);
  EXPECT_DOUBLE_EQ(all.timing.median_us, 21);
  EXPECT_EQ(all.timing.rounds, 2);
  for (Record& record : processes) record.outcome = Unsupported{.reason = "no MLA"};
  EXPECT_EQ(pooled_record(processes, 0.5).reason(), "no MLA");
}

TEST(PooledRecord, has_the_largest_error) {
  auto processes = processes_with({20, 20, 20});
  processes[2].error.bound_ratio = 0.7;
  processes[1].error.bound_ratio = 0.4;
  EXPECT_DOUBLE_EQ(pooled_record(processes, 0.5).error.bound_ratio, 0.7);
  processes[0].error.lse_bound_ratio = 0.9;
  EXPECT_DOUBLE_EQ(pooled_record(processes, 0.5).error.lse_bound_ratio, 0.9);
}

TEST(PooledRecord, needs_a_process) {
  EXPECT_THROW(static_cast<void>(pooled_record({}, 0.5)), InternalError);
}

}  // namespace
}  // namespace attnbench
