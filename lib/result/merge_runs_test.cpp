// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/merge_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lib/base/error.h"
#include "lib/result/record.h"
#include "lib/result/testing/sample_run.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

/// The records at even or at odd places of a sample, as two shards measure them.
NamedRun half(std::size_t first) {
  RunResult run = sample_run();
  std::vector<Record> kept;
  for (std::size_t i = first; i < run.records.size(); i += 2) kept.push_back(run.records[i]);
  run.records = std::move(kept);
  return {first == 0 ? "a.json" : "b.json", std::move(run)};
}

std::string refusal(const std::function<void(RunResult&)>& edit, const MergeRules& rules = {}) {
  NamedRun other = half(1);
  edit(other.run);
  try {
    static_cast<void>(merge_runs({half(0), other}, rules));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "joined";
}

TEST(MergedRuns, hold_the_records_of_all) {
  const RunResult all = merge_runs({half(0), half(1)}, {});
  EXPECT_EQ(all.records.size(), sample_run().records.size());
  EXPECT_EQ(all.scenarios.size(), 1U);
  EXPECT_EQ(all.devices.size(), sample_run().devices.size());
  EXPECT_EQ(all.wall_s, 2 * sample_run().wall_s);
}

TEST(MergedRuns, keep_the_ceilings_of_each_device) {
  NamedRun other = half(1);
  other.run.devices[0].ceilings.read_bytes_per_s *= 1.01;
  EXPECT_EQ(merge_runs({half(0), other}, {}).devices.size(), sample_run().devices.size() + 1);
}

TEST(MergedRuns, are_of_one_machine_unless_told_otherwise) {
  const auto other_driver = [](RunResult& run) { run.environment.device.driver = "590"; };
  EXPECT_THAT(refusal(other_driver), HasSubstr("a.json and b.json do not belong together: driver "
                                               "'' and '590'\n   --mixed-machines"));
  EXPECT_EQ(refusal(other_driver, {.mixed_machines = true}), "joined");
  EXPECT_THAT(refusal([](RunResult& run) { run.environment.hostname_hash = "1"; }),
              HasSubstr("host '00ff00ff00ff' and '1'"));
  EXPECT_THAT(refusal([](RunResult& run) { run.environment.device.name = "x"; }),
              HasSubstr("device"));
}

TEST(MergedRuns, are_of_one_binary_unless_told_otherwise) {
  const auto other_commit = [](RunResult& run) { run.environment.git_sha = "feed"; };
  EXPECT_THAT(refusal(other_commit), HasSubstr("commit '3f2c1a9' and 'feed'\n   --mixed-binaries"));
  EXPECT_EQ(refusal(other_commit, {.mixed_binaries = true}), "joined");
}

TEST(MergedRuns, are_of_one_build_of_a_plug_in_unless_told_otherwise) {
  const auto rebuilt = [](RunResult& run) {
    run.plugins = {{"/elsewhere/mine.so", std::string(64, 'e')}};
  };
  EXPECT_THAT(refusal(rebuilt), HasSubstr("SHA-256 of plug-in /home/user/mine.so 'dddd"));
  EXPECT_THAT(refusal(rebuilt), HasSubstr("of /elsewhere/mine.so 'eeee"));
  EXPECT_EQ(refusal(rebuilt, {.mixed_binaries = true}), "joined");
  EXPECT_EQ(refusal([](RunResult& run) { run.plugins[0].path = "/home/user/other.so"; }), "joined");
  EXPECT_EQ(refusal([](RunResult& run) { run.plugins.clear(); }), "joined");
}

TEST(MergedRuns, never_join_two_models_that_one_scenario_names) {
  const auto changed = [](RunResult& run) {
    run.scenarios[0].configs[0].sha256 = std::string(64, 'e');
  };
  EXPECT_THAT(refusal(changed), HasSubstr("SHA-256 of model/config.json 'cccc"));
  EXPECT_THAT(refusal(changed), HasSubstr("' and 'eeee"));
  EXPECT_EQ(refusal([](RunResult& run) { run.scenarios[0].configs.clear(); }), "joined")
      << "a file of an earlier version does not know";
}

TEST(MergedRuns, never_join_two_scenarios_of_one_name) {
  const MergeRules all = {.mixed_machines = true, .mixed_binaries = true};
  EXPECT_THAT(refusal([](RunResult& run) { run.scenarios[0].seed = 8; }, all),
              HasSubstr("seed '7' and '8'"));
  EXPECT_THAT(refusal([](RunResult& run) { run.scenarios[0].sha256 = "b"; }, all),
              HasSubstr("SHA-256"));
  EXPECT_THAT(refusal([](RunResult& run) { run.scenarios[0].options = "--quick"; }, all),
              HasSubstr("options '' and '--quick'"));
}

TEST(MergedRuns, take_a_cell_that_two_measured_from_the_one_that_is_named) {
  const auto twice = [](RunResult& run) { run.records.push_back(half(0).run.records[0]); };
  EXPECT_THAT(refusal(twice), HasSubstr("a.json and b.json both measured sample"));
  for (const auto winner : {DuplicateWinner::kFirst, DuplicateWinner::kLast}) {
    NamedRun other = half(1);
    twice(other.run);
    other.run.records.back().timing.median_us = 1;
    const RunResult all = merge_runs({half(0), other}, {.winner = winner});
    EXPECT_EQ(all.records.size(), sample_run().records.size());
    EXPECT_EQ(all.records[0].timing.median_us == 1, winner == DuplicateWinner::kLast);
  }
}

TEST(MergedRuns, prefer_a_measured_cell_to_one_that_was_not_reached) {
  NamedRun other = half(1);
  other.run.records.push_back(half(0).run.records[0]);
  other.run.records.back().timing.status = MeasureStatus::kInterrupted;
  for (const bool reversed : {false, true}) {
    const RunResult all =
        reversed ? merge_runs({other, half(0)}, {}) : merge_runs({half(0), other}, {});
    EXPECT_EQ(all.records.size(), sample_run().records.size());
    const CellKey cell(half(0).run.records[0]);
    const auto found = std::ranges::find_if(
        all.records, [&](const Record& record) { return CellKey(record) == cell; });
    EXPECT_EQ(found->timing.status, MeasureStatus::kConverged);
  }
}

TEST(MergedRuns, keep_one_of_a_cell_that_neither_reached) {
  NamedRun first = half(0), other = half(1);
  first.run.records[0].timing.status = MeasureStatus::kInterrupted;
  other.run.records.push_back(first.run.records[0]);
  const RunResult all = merge_runs({first, other}, {});
  EXPECT_EQ(all.records.size(), sample_run().records.size());
  EXPECT_TRUE(all.interrupted);
}

TEST(MergedRuns, pool_the_cells_of_equal_processes) {
  std::vector<NamedRun> runs;
  for (int i = 0; i < 6; ++i) {
    runs.push_back({std::to_string(i) + ".json", sample_run()});
    runs.back().run.wall_s += i;
    runs.back().run.devices[0].ceilings.read_bytes_per_s *= 1 + 0.01 * i;
    runs.back().run.records[0].timing.median_us = 100 + i;
  }
  const RunResult all = merge_runs(runs, {.pool_precision = 0.1});
  EXPECT_EQ(all.records.size(), sample_run().records.size());
  EXPECT_EQ(all.devices.size(), sample_run().devices.size());
  EXPECT_EQ(all.records[0].timing.median_us, 102.5);
  EXPECT_EQ(all.records[0].timing.blocks.size(), 6U);
  EXPECT_EQ(all.records[0].timing.status, MeasureStatus::kConverged);
}

TEST(MergedRuns, count_no_run_twice_in_a_pool) {
  EXPECT_THAT(refusal([](RunResult&) {}, {.pool_precision = 0.1}),
              HasSubstr("a.json and b.json are the same run, which cannot count twice"));
}

/// A cell as one process measured it.
Record process_with(double median_us) {
  Record record;
  record.outcome = Completed{.check = Check::kPassed, .speed = Speed::kClaimed};
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
    std::get<Completed>(record.outcome).reason = "noisy after 40 rounds";
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
