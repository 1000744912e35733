// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>

#include "lib/base/error.h"
#include "lib/gate/testing/measured_run.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr std::chrono::year_month_day kToday = 2026y / 1 / 20;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

CompareOptions trusting() { return {.trust_sequential = true, .today = kToday}; }

RunResult base_run() {
  return measured_run({measured_cell("decode/ps16", "splitkv", 100),
                       measured_cell("decode/ps16", "paged_fa", 200)});
}

const Comparison& cell_of(const GateReport& report, const std::string& backend) {
  return *std::ranges::find_if(
      report.cells, [&](const Comparison& each) { return each.cell.backend == backend; });
}

/// The report on base_run() against the same with `change` applied to the cell of splitkv.
GateReport after(const std::function<void(Record&)>& change,
                 const CompareOptions& options = trusting()) {
  RunResult now = base_run();
  change(now.records[0]);
  return compare_runs(base_run(), now, options);
}

/// And the one judgement that matters.
Judgement judged_after(const std::function<void(Record&)>& change,
                       const CompareOptions& options = trusting()) {
  return after(change, options).cells.front().judgement;
}

void scale(Record& record, double factor) {
  CellTiming& timing = record.timing;
  for (double* us : {&timing.median_us, &timing.lo_us, &timing.hi_us}) *us *= factor;
  for (BlockMedian& block : timing.blocks) block.us *= factor;
}

TEST(Compare, says_same_of_equal_results_and_exits_0) {
  const GateReport report = compare_runs(base_run(), base_run(), trusting());
  ASSERT_EQ(report.cells.size(), 2u);
  for (const Comparison& each : report.cells) {
    EXPECT_EQ(each.judgement.verdict, GateVerdict::kSame);
  }
  EXPECT_EQ(exit_code_of(report, true), ExitCode::kOk);
}

TEST(Compare, holds_the_kernels_of_both_sides_and_whether_the_base_failed) {
  RunResult base = base_run(), now = base_run();
  base.records[0].kernel = "fwd, 2 splits";
  now.records[0].kernel = "fwd, 3 splits";
  Comparison cell = cell_of(compare_runs(base, now, trusting()), "splitkv");
  EXPECT_EQ(cell.base_kernel, "fwd, 2 splits");
  EXPECT_EQ(cell.new_kernel, "fwd, 3 splits");
  EXPECT_FALSE(cell.failed_before);
  now.records[0].outcome = Unsupported{"no page of 16"};
  cell = cell_of(compare_runs(base, now, trusting()), "splitkv");
  EXPECT_EQ(cell.base_kernel + cell.new_kernel, "");
  base.records[0].outcome = Crashed{"SIGSEGV"};
  EXPECT_TRUE(cell_of(compare_runs(base, now, trusting()), "splitkv").failed_before);
}

TEST(Compare, without_trust_in_separate_runs_suspects_and_with_it_decides) {
  const auto slower = [](Record& r) { scale(r, 1.06); };
  GateReport report = after(slower, {.today = kToday});
  EXPECT_EQ(report.cells.front().judgement.verdict, GateVerdict::kSuspect);
  EXPECT_EQ(exit_code_of(report, false), ExitCode::kOk);
  EXPECT_EQ(exit_code_of(report, true), ExitCode::kInconclusive);
  report = after(slower);
  EXPECT_EQ(report.cells.front().judgement.verdict, GateVerdict::kRegressed);
  EXPECT_EQ(exit_code_of(report, false), ExitCode::kRegression);
}

TEST(Compare, never_decides_between_machines_even_when_the_difference_is_waived) {
  RunResult now = base_run();
  scale(now.records[0], 1.06);
  now.environment.device.name = "NVIDIA H100";
  CompareOptions options = trusting();
  options.waivers = {"device"};
  const GateReport report = compare_runs(base_run(), now, options);
  EXPECT_EQ(report.cells.front().judgement.verdict, GateVerdict::kSuspect);
  EXPECT_THAT(report.remarks.front() + report.remarks.back(), HasSubstr("waived by --allow"));
}

TEST(Compare, lets_an_incorrect_result_dominate_whatever_else_is_wrong) {
  RunResult now = base_run();
  scale(now.records[1], 2);
  now.records[0].outcome = Incorrect{"3 NaN", true};
  GateReport report = compare_runs(base_run(), now, trusting());
  EXPECT_EQ(exit_code_of(report, false), ExitCode::kIncorrect);
  EXPECT_EQ(report.cells.front().judgement.verdict, GateVerdict::kIncorrect);
  EXPECT_THAT(report.cells.front().judgement.reason, HasSubstr("3 NaN"));
  now.environment.device.name = "NVIDIA H100";
  report = compare_runs(base_run(), now, trusting());
  EXPECT_EQ(exit_code_of(report, false), ExitCode::kIncorrect) << "on another machine, too";
  for (const Outcome& outcome :
       {Outcome(Crashed{"SIGSEGV"}), Outcome(Completed{Check::kPassed, Speed::kImpossible})}) {
    now.records[0].outcome = outcome;
    EXPECT_EQ(exit_code_of(compare_runs(base_run(), now, trusting()), false), ExitCode::kIncorrect);
  }
}

TEST(Compare, finds_a_wrong_cell_that_the_base_does_not_have) {
  RunResult now = base_run();
  now.records.push_back(measured_cell("decode/ps16", "fa3", 90));
  now.records.back().outcome = Incorrect{"3 NaN", true};
  const GateReport report = compare_runs(base_run(), now, trusting());
  EXPECT_EQ(cell_of(report, "fa3").judgement.verdict, GateVerdict::kIncorrect);
  EXPECT_EQ(exit_code_of(report, false), ExitCode::kIncorrect);
}

TEST(Compare, misses_a_cell_that_was_wrong_in_the_base) {
  RunResult base = base_run(), now = base_run();
  base.records[0].outcome = Incorrect{"3 NaN", true};
  now.records.erase(now.records.begin());
  const GateReport report = compare_runs(base, now, trusting());
  EXPECT_EQ(cell_of(report, "splitkv").judgement.verdict, GateVerdict::kMissing);
}

TEST(Compare, takes_a_throttled_base_for_no_evidence) {
  RunResult base = base_run();
  base.records[0].timing.status = MeasureStatus::kThrottled;
  const GateReport report = compare_runs(base, base_run(), trusting());
  EXPECT_EQ(cell_of(report, "splitkv").judgement.doubt, Doubt::kClock);
}

TEST(Compare, compares_scenarios_beside_one_that_has_changed) {
  RunResult base = base_run();
  base.scenarios.push_back({"prefill", "prefill.yaml", std::string(64, 'b'), 7});
  base.records[1].scenario = "prefill";
  RunResult now = base;
  now.scenarios[1].seed = 8;
  const GateReport report = compare_runs(base, now, trusting());
  EXPECT_EQ(cell_of(report, "splitkv").judgement.verdict, GateVerdict::kSame);
  EXPECT_EQ(cell_of(report, "paged_fa").judgement.verdict, GateVerdict::kNotComparable);
}

TEST(Compare, does_not_trust_that_two_scenarios_without_a_hash_are_one) {
  RunResult base = base_run();
  base.scenarios[0].sha256.clear();
  const GateReport report = compare_runs(base, base, trusting());
  EXPECT_EQ(report.cells.front().judgement.verdict, GateVerdict::kNotComparable);
}

TEST(Compare, passes_nothing_silently) {
  const auto verdict = [](const std::function<void(Record&)>& change) {
    const GateReport report = after(change);
    EXPECT_EQ(exit_code_of(report, true), ExitCode::kInconclusive);
    EXPECT_EQ(exit_code_of(report, false), ExitCode::kOk);
    return report.cells.front().judgement.verdict;
  };
  EXPECT_EQ(verdict([](Record& r) { r.outcome = Unsupported{"no"}; }), GateVerdict::kSkippedNow);
  EXPECT_EQ(verdict([](Record& r) { r.outcome = Skipped{"interrupted"}; }),
            GateVerdict::kSkippedNow);
  EXPECT_EQ(verdict([](Record& r) { r.case_id = "prefill"; }), GateVerdict::kMissing);
  for (const double us : {kNan, 0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(verdict([&](Record& r) { r.timing.median_us = us; }), GateVerdict::kNoVerdict) << us;
    EXPECT_EQ(verdict([&](Record& r) { r.timing.hi_us = us; }), GateVerdict::kNoVerdict) << us;
  }
  EXPECT_EQ(verdict([](Record& r) { r.timing.rounds = 5; }), GateVerdict::kNoVerdict);
  EXPECT_EQ(verdict([](Record& r) { r.outcome = Completed{Check::kPassed}; }),
            GateVerdict::kNoVerdict);
  EXPECT_EQ(verdict([](Record& r) {
              r.outcome = Completed{Check::kMistrusted, Speed::kClaimed};
            }),
            GateVerdict::kNoVerdict);
  EXPECT_EQ(verdict([](Record& r) {
              r.outcome = Completed{Check::kNotVerified, Speed::kClaimed};
            }),
            GateVerdict::kNoVerdict);
  EXPECT_EQ(verdict([](Record& r) { r.timing.status = MeasureStatus::kThrottled; }),
            GateVerdict::kInconclusive);
  EXPECT_EQ(verdict([](Record& r) { r.timing.hi_us *= 1.1; }), GateVerdict::kInconclusive);
}

TEST(Compare, misses_nothing_that_did_not_run_in_the_base) {
  RunResult base = base_run();
  base.records[0].outcome = Unsupported{"no"};
  RunResult now = base_run();
  now.records.erase(now.records.begin());
  const GateReport report = compare_runs(base, now, trusting());
  EXPECT_EQ(cell_of(report, "splitkv").judgement.verdict, GateVerdict::kNotRun);
  EXPECT_EQ(exit_code_of(report, true), ExitCode::kOk);
}

TEST(Compare, names_what_is_new_and_what_has_become_right) {
  RunResult now = base_run();
  now.records.push_back(measured_cell("decode/ps16", "fa3", 90));
  RunResult base = base_run();
  base.records[0].outcome = Incorrect{"wrong", true};
  const GateReport report = compare_runs(base, now, trusting());
  EXPECT_EQ(cell_of(report, "fa3").judgement.verdict, GateVerdict::kNew);
  EXPECT_EQ(cell_of(report, "splitkv").judgement.verdict, GateVerdict::kImproved);
  EXPECT_EQ(exit_code_of(report, true), ExitCode::kOk);
}

TEST(Compare, exits_4_when_nothing_of_the_base_is_there) {
  const RunResult now = measured_run({measured_cell("prefill", "splitkv", 100)});
  EXPECT_EQ(exit_code_of(compare_runs(base_run(), now, trusting()), false), ExitCode::kUsage);
  EXPECT_EQ(exit_code_of(compare_runs(measured_run({}), measured_run({}), trusting()), false),
            ExitCode::kUsage);
}

TEST(Compare, refuses_a_cell_that_stands_twice_in_a_result) {
  RunResult now = base_run();
  now.records.push_back(now.records[0]);
  try {
    (void)compare_runs(base_run(), now, trusting());
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("new result holds a cell twice: serving: decode/ps16, "
                                        "splitkv, attention, cold, eager"));
  }
}

struct Condition {
  const char* name;
  void (*change)(RunResult&);
};

class Conditions : public testing::TestWithParam<Condition> {};

TEST_P(Conditions, must_be_the_same_unless_waived_by_name) {
  RunResult now = base_run();
  GetParam().change(now);
  GateReport report = compare_runs(base_run(), now, trusting());
  EXPECT_EQ(report.cells.front().judgement.verdict, GateVerdict::kNotComparable);
  EXPECT_THAT(report.cells.front().judgement.reason,
              HasSubstr(std::string("another ") + GetParam().name));
  EXPECT_EQ(exit_code_of(report, false), ExitCode::kEnvironment);
  CompareOptions options = trusting();
  options.waivers = {GetParam().name};
  report = compare_runs(base_run(), now, options);
  EXPECT_EQ(report.cells.front().judgement.verdict, GateVerdict::kSame);
  EXPECT_THAT(report.remarks, testing::Contains(HasSubstr("waived by --allow")));
}

INSTANTIATE_TEST_SUITE_P(
    Each, Conditions,
    testing::Values(
        Condition{"device", [](RunResult& run) { run.environment.device.name = "NVIDIA H100"; }},
        Condition{"device", [](RunResult& run) { run.environment.device.arch = "sm_100"; }},
        Condition{"device", [](RunResult& run) { run.environment.device.units = 66; }},
        Condition{"driver", [](RunResult& run) { run.environment.device.driver = "590.1"; }},
        Condition{"driver", [](RunResult& run) { run.environment.device.driver = ""; }},
        Condition{"cuda", [](RunResult& run) { run.environment.device.cuda_version = "12.9"; }},
        Condition{"scenario", [](RunResult& run) { run.scenarios[0].sha256[3] = 'b'; }},
        Condition{"scenario", [](RunResult& run) { run.scenarios[0].sha256 = ""; }},
        Condition{"seed", [](RunResult& run) { run.scenarios[0].seed = 8; }},
        Condition{"settings", [](RunResult& run) { run.scenarios[0].options = "--threads 2"; }},
        Condition{"settings",
                  [](RunResult& run) {
                    for (Record& record : run.records) record.graph_forced = true;
                  }},
        Condition{"contents", [](RunResult& run) {
                    for (Record& record : run.records) record.fixture_hash = "f";
                  }}));

TEST(Compare, takes_a_minor_version_and_another_host_for_information) {
  RunResult now = base_run();
  now.environment.device.driver = "580.200.01";
  now.environment.hostname_hash = "112233445566";
  const GateReport report = compare_runs(base_run(), now, trusting());
  EXPECT_EQ(exit_code_of(report, true), ExitCode::kOk);
  EXPECT_THAT(report.remarks, testing::Contains(HasSubstr("580.200.01 now")));
  EXPECT_THAT(report.remarks, testing::Contains(HasSubstr("host: 00ff00ff00ff in the base")));
}

TEST(Compare, says_when_the_base_is_old) {
  CompareOptions options = trusting();
  options.today = 2026y / 3 / 1;
  EXPECT_THAT(compare_runs(base_run(), base_run(), options).remarks,
              testing::Contains(HasSubstr("58 days old")));
  EXPECT_TRUE(compare_runs(base_run(), base_run(), trusting()).remarks.empty());
}

TEST(Compare, calls_cells_of_other_cache_states_not_comparable_instead_of_missing) {
  const auto warm = [](Record& r) { r.cache = CacheState::kWarm; };
  const GateReport report = after(warm);
  EXPECT_EQ(report.cells.front().judgement.verdict, GateVerdict::kNotComparable);
  EXPECT_THAT(report.cells.front().judgement.reason, HasSubstr("measured cold eager"));
  EXPECT_EQ(exit_code_of(report, false), ExitCode::kEnvironment);
  RunResult both = base_run();
  both.records.push_back(both.records[0]);
  warm(both.records.back());
  EXPECT_EQ(exit_code_of(compare_runs(base_run(), both, trusting()), true), ExitCode::kOk)
      << "a further one is new";
  EXPECT_EQ(compare_runs(both, base_run(), trusting()).cells.front().judgement.verdict,
            GateVerdict::kMissing);
}

TEST(Compare, allows_three_times_what_equal_cells_differed_by) {
  RunResult base = base_run();
  Record twin = base.records[0];
  twin.backend = "splitkv#2";
  twin.aa = {12, 1.001, 0.998, 1.03, 1.04};
  base.records.push_back(twin);
  RunResult now = base;
  scale(now.records[0], 1.06);
  const GateReport report = compare_runs(base, now, trusting());
  EXPECT_EQ(cell_of(report, "splitkv").judgement.verdict, GateVerdict::kSame);
  EXPECT_NEAR(cell_of(report, "splitkv").edge, 0.09, 1e-9);
  const auto edge = [](const RunResult& was, const RunResult& is) {
    return cell_of(compare_runs(was, is, trusting()), "splitkv").edge;
  };
  EXPECT_NEAR(edge(base, base_run()), 0.09, 1e-9) << "in either run";
  EXPECT_NEAR(edge(base_run(), base), 0.09, 1e-9);
  base.records.back().step = StepPart::kKvWrite;
  EXPECT_NEAR(edge(base, base_run()), 0.02, 1e-9) << "equal cells of another step";
}

TEST(Compare, sorts_by_harm_and_then_the_slowest_first) {
  RunResult now = base_run();
  now.records.push_back(measured_cell("decode/ps16", "fa3", 100));
  scale(now.records[0], 1.05);
  scale(now.records[1], 1.5);
  const GateReport report = compare_runs(base_run(), now, trusting());
  EXPECT_EQ(report.cells[0].cell.backend, "paged_fa");
  EXPECT_EQ(report.cells[1].cell.backend, "splitkv");
  EXPECT_EQ(report.cells[2].cell.backend, "fa3");
}

TEST(CompareBackends, judges_the_rounds_that_visited_both) {
  RunResult run = base_run();
  for (Record& record : run.records) record.timing.status = MeasureStatus::kNoisy;
  // Weather that both saw: only pairs can tell.
  for (std::size_t i = 0; i < 12; ++i) {
    for (Record& record : run.records) {
      record.timing.blocks[i].us *= i % 2 == 0 ? 1 : 1.5;
      record.timing.hi_us = record.timing.median_us * 1.5;
    }
  }
  const GateReport report = compare_backends(run, "splitkv", "paged_fa", {.today = kToday});
  ASSERT_EQ(report.cells.size(), 1u);
  EXPECT_EQ(report.cells[0].judgement.verdict, GateVerdict::kRegressed);
  EXPECT_EQ(report.cells[0].speed->pairs, 12);
  EXPECT_NEAR(report.cells[0].speed->time.lo, 2, 1e-9);
  EXPECT_EQ(exit_code_of(compare_backends(run, "paged_fa", "splitkv", {}), true), ExitCode::kOk);
}

TEST(CompareBackends, names_the_nearest_backend_of_one_that_is_not_there) {
  try {
    (void)compare_backends(base_run(), "splitvk", "paged_fa", {});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'splitkv'?   it has: paged_fa splitkv"));
  }
}

TEST(ComparePolicy, holds_each_cell_to_its_own_limits) {
  CompareOptions options = trusting();
  options.policy = parse_policy("rules: [{case: 'decode/*', backend: splitkv, latency: 10%}]", "p");
  EXPECT_EQ(judged_after([](Record& r) { scale(r, 1.06); }, options).verdict, GateVerdict::kSame);
  options.policy = parse_policy("limits: {error: 0.6, roofline: 70%, support: required}", "p");
  EXPECT_EQ(judged_after([](Record&) {}, options).verdict, GateVerdict::kSame);
  const Judgement error = judged_after([](Record& r) { r.error.bound_ratio = 0.7; }, options);
  EXPECT_EQ(error.verdict, GateVerdict::kRegressed);
  EXPECT_THAT(error.reason, HasSubstr("error/bound 0.7 is above the limit 0.6"));
  EXPECT_EQ(judged_after([](Record& r) { r.error.bound_ratio = kNan; }, options).verdict,
            GateVerdict::kRegressed);
  EXPECT_EQ(judged_after([](Record& r) { r.error.lse_bound_ratio = 0.7; }, options).verdict,
            GateVerdict::kRegressed);
  EXPECT_EQ(judged_after(
                [](Record& r) {
                  r.error.bound_ratio = 0.7;
                  r.fixture_hash = "f";
                },
                options)
                .verdict,
            GateVerdict::kNotComparable)
      << "the limits of other inputs say nothing";
  const Judgement roofline = judged_after([](Record& r) { r.roofline = 0.65; }, options);
  EXPECT_EQ(roofline.verdict, GateVerdict::kRegressed);
  EXPECT_THAT(roofline.reason, HasSubstr("65.0 % of the roofline is below the limit 70.0 %"));
  EXPECT_EQ(judged_after([](Record& r) { r.outcome = Unsupported{"no"}; }, options).verdict,
            GateVerdict::kRegressed);
  RunResult one = base_run();
  one.records.pop_back();
  EXPECT_EQ(compare_runs(base_run(), one, options).cells.front().judgement.verdict,
            GateVerdict::kRegressed);
}

constexpr const char* kAllowance = R"(
allow:
  - {backend: splitkv, verdict: REGRESSED, latency: 10%, reason: new split rule, expires: 2026-01-31}
)";

TEST(ComparePolicy, excuses_what_an_allowance_names_until_it_expires) {
  const auto exit_of = [](double factor, std::chrono::year_month_day today) {
    CompareOptions options = trusting();
    options.today = today;
    options.policy = parse_policy(kAllowance, "gate.yaml");
    return exit_code_of(after([&](Record& r) { scale(r, factor); }, options), true);
  };
  EXPECT_EQ(exit_of(1.06, 2026y / 1 / 31), ExitCode::kOk);
  EXPECT_EQ(exit_of(1.12, 2026y / 1 / 31), ExitCode::kRegression) << "more than was allowed";
  EXPECT_EQ(exit_of(1.06, 2026y / 2 / 1), ExitCode::kRegression) << "expired";
}

TEST(ComparePolicy, names_allowances_that_count_expired_or_meet_nothing) {
  CompareOptions options = trusting();
  options.policy = parse_policy(kAllowance, "gate.yaml");
  GateReport report = after([](Record& r) { scale(r, 1.06); }, options);
  EXPECT_EQ(report.cells.back().allowed_because, "new split rule (until 2026-01-31)");
  EXPECT_TRUE(report.remarks.empty());
  report = after([](Record&) {}, options);
  EXPECT_THAT(report.remarks, testing::Contains("gate.yaml:3: the allowance 'new split rule' "
                                                "meets no cell"));
  options.today = 2026y / 2 / 1;
  report = after([](Record& r) { scale(r, 1.06); }, options);
  EXPECT_THAT(report.remarks, testing::Contains(HasSubstr("expired on 2026-01-31")));
}

}  // namespace
}  // namespace attnbench
