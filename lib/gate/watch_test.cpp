// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/watch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/gate/testing/measured_run.h"
#include "lib/view/json.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

using Edit = std::function<void(int day, RunResult& run)>;

/// A run a day, of which the last half takes 10 % longer, each of a commit of its own.
std::vector<ResultFile> daily(int days, const Edit& edit = {}) {
  std::vector<ResultFile> files;
  for (int day = 0; day < days; ++day) {
    const double us = (day < days / 2 ? 100 : 110) + 0.1 * (day % 3);
    RunResult run = measured_run({measured_cell("decode/ps16", "splitkv", us)});
    run.environment.started_utc = fmt::format("2026-03-{:02}T01:00:00Z", day + 1);
    run.environment.git_sha = fmt::format("c0ffe{:02}", day + 1);
    if (edit) edit(day, run);
    files.push_back({fmt::format("{}.json", day + 1), std::move(run)});
  }
  return files;
}

std::vector<std::size_t> runs_of(const WatchedSeries& series) {
  std::vector<std::size_t> runs;
  for (const WatchedPoint& point : series.points) runs.push_back(point.run);
  return runs;
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

std::string watch_text(const WatchReport& report, const TextOptions& options = {}) {
  std::ostringstream out;
  write_watch_terminal(report, options, out);
  return out.str();
}

TEST(Watch, finds_the_commit_of_a_change_whatever_the_order_of_the_files) {
  std::vector<ResultFile> files = daily(12);
  std::swap(files[2], files[9]);
  std::swap(files[0], files[11]);
  const WatchReport report = watch_runs(files, {});
  ASSERT_THAT(report.series, SizeIs(1));
  ASSERT_THAT(report.series[0].changes, SizeIs(1));
  const WatchedChange& change = report.series[0].changes[0];
  EXPECT_EQ(report.runs[report.series[0].points[change.point].run].commit, "c0ffe07");
  EXPECT_NEAR(change.after / change.before, 1.10, 1e-3);
}

TEST(Watch, keeps_runs_of_other_conditions_apart_and_names_them) {
  const auto report_of = [](const Edit& edit) { return watch_runs(daily(6, edit), {}); };
  const WatchReport machines = report_of([](int day, RunResult& run) {
    if (day % 2 == 1) run.environment.device.name = "NVIDIA H100";
  });
  ASSERT_THAT(machines.series, SizeIs(2));
  EXPECT_THAT(runs_of(machines.series[0]), ElementsAre(0, 2, 4));
  EXPECT_THAT(runs_of(machines.series[1]), ElementsAre(1, 3, 5));
  EXPECT_EQ(machines.series[0].apart, "");
  EXPECT_THAT(machines.series[1].apart, HasSubstr("another device: NVIDIA H200"));

  const auto apart_of = [&](const Edit& edit) {
    const WatchReport report = report_of(edit);
    EXPECT_THAT(report.series, SizeIs(2));
    return report.series.back().apart;
  };
  EXPECT_THAT(apart_of([](int day, RunResult& run) {
                if (day >= 3) run.scenarios[0].sha256[0] = 'b';
              }),
              HasSubstr("another scenario"));
  EXPECT_THAT(apart_of([](int day, RunResult& run) {
                if (day >= 3) run.scenarios[0].seed = 8;
              }),
              HasSubstr("another seed"));
  EXPECT_THAT(apart_of([](int day, RunResult& run) {
                if (day == 4) run.scenarios[0].options = "--aa";
              }),
              HasSubstr("another settings"));
  EXPECT_THAT(apart_of([](int day, RunResult& run) {
                if (day == 4) run.records[0].fixture_hash = "fedc";
              }),
              HasSubstr("another contents"));
}

TEST(Watch, has_gaps_where_a_cell_failed_did_not_run_or_is_missing) {
  const WatchReport report = watch_runs(daily(12,
                                              [](int day, RunResult& run) {
                                                Record& record = run.records[0];
                                                if (day == 3)
                                                  record.outcome = Incorrect{"3 NaN", true};
                                                if (day == 4) {
                                                  record.outcome = Unsupported{"no such head size"};
                                                  record.fixture_hash = "";  // none was built
                                                }
                                                if (day == 5) run.records.clear();
                                              }),
                                        {});
  ASSERT_THAT(report.series, SizeIs(1));
  const auto& points = report.series[0].points;
  ASSERT_THAT(points, SizeIs(12));
  EXPECT_EQ(points[3].gap, "INCORRECT: 3 NaN");
  EXPECT_TRUE(points[3].failed);
  EXPECT_FALSE(points[3].value) << "a wrong result has no speed";
  EXPECT_EQ(points[4].gap, "unsupported: no such head size");
  EXPECT_FALSE(points[4].failed);
  EXPECT_EQ(points[5].gap, "not in this file");
  EXPECT_THAT(report.series[0].changes, IsEmpty()) << "three values and six: too few";
}

TEST(Watch, counts_points_past_gaps_to_the_change) {
  const WatchReport report = watch_runs(daily(16,
                                              [](int day, RunResult& run) {
                                                if (day == 2 || day == 8)
                                                  run.records[0].outcome = Crashed{"SIGSEGV"};
                                              }),
                                        {});
  ASSERT_THAT(report.series[0].changes, SizeIs(1));
  EXPECT_EQ(report.series[0].changes[0].point, 9u) << "the first value of the new level";
  EXPECT_THAT(watch_text(report), HasSubstr("at c0ffe10, 2026-03-10"));
  EXPECT_THAT(watch_text(report), HasSubstr("before it c0ffe08, 2026-03-08"));
}

TEST(Watch, follows_any_measured_number_and_names_the_nearest_of_an_unknown_one) {
  EXPECT_EQ(watch_runs(daily(2), {.metric = "bound_ratio"}).series[0].points[0].value, 0.5);
  EXPECT_EQ(watch_runs(daily(2), {.metric = "roofline"}).series[0].points[0].value, 0.8);
  EXPECT_THAT(error_of([] { static_cast<void>(metric_field("rooflin")); }),
              HasSubstr("did you mean 'roofline'?"));
  for (const char* column : {"case", "heads_q", "samples", "short", ""}) {
    EXPECT_THAT(error_of([&] { static_cast<void>(metric_field(column)); }),
                HasSubstr("no measured number"));
  }
}

TEST(Watch, calls_what_has_no_logarithm_a_gap) {
  const WatchReport report =
      watch_runs(daily(2, [](int, RunResult& run) { run.records[0].error.bound_ratio = 0; }),
                 {.metric = "bound_ratio"});
  EXPECT_EQ(report.series[0].points[0].gap, "passed, no logarithm of this bound_ratio");
}

TEST(Watch, chooses_cells_by_globs_and_refuses_those_that_match_nothing) {
  const std::vector<ResultFile> files = daily(2, [](int, RunResult& run) {
    run.records.push_back(measured_cell("prefill", "paged_fa", 10));
  });
  EXPECT_THAT(watch_runs(files, {}).series, SizeIs(2));
  EXPECT_EQ(watch_runs(files, {.cases = {"dec*"}}).series.at(0).cell.case_id, "decode/ps16");
  EXPECT_EQ(watch_runs(files, {.backends = {"paged?fa"}}).series.at(0).cell.case_id, "prefill");
  EXPECT_THAT(error_of([&] { static_cast<void>(watch_runs(files, {.cases = {"prefil"}})); }),
              HasSubstr("did you mean 'prefill'?"));
  EXPECT_THAT(error_of([&] { static_cast<void>(watch_runs(files, {.backends = {"x"}})); }),
              HasSubstr("backends: "));
  EXPECT_THAT(
      error_of([&] {
        static_cast<void>(watch_runs(files, {.cases = {"prefill"}, .backends = {"splitkv"}}));
      }),
      HasSubstr("nothing matched"));
}

TEST(WatchTerminal, has_a_row_for_each_series_and_a_plot_of_each_that_changed) {
  const WatchReport report =
      watch_runs(daily(12,
                       [](int day, RunResult& run) {
                         run.records.push_back(measured_cell("prefill", "paged_fa", 1000));
                         if (day == 11) run.records[1].outcome = Incorrect{"3 NaN\x1b[31m", true};
                       }),
                 {});
  const std::string text = watch_text(report);
  EXPECT_THAT(text,
              HasSubstr("median_us\n"
                        "backend   case         mode   runs  noise  first → last        change\n"
                        "splitkv   decode/ps16  cold"));
  EXPECT_THAT(text, HasSubstr("12  0.1 %  100 µs → 110 µs    +10.2 %\n"
                              "    ▲ +10.0 % at c0ffe07, 2026-03-07: 100 µs → 110 µs (before it "
                              "c0ffe06, 2026-03-06)\n"));
  EXPECT_THAT(text, HasSubstr("\nnoise: standard deviation of a single run's figure"));
  EXPECT_THAT(text, HasSubstr("11/12"));
  EXPECT_THAT(text, HasSubstr("    ! c0ffe12, 2026-03-12: INCORRECT: 3 NaN\\x1b[31m\n"));
  EXPECT_THAT(text, HasSubstr("\nsplitkv  decode/ps16  cold\n"));
  EXPECT_THAT(text, HasSubstr("110 µs ┤"));
  EXPECT_THAT(text, Not(HasSubstr("\npaged_fa  prefill  cold\n"))) << "it did not change";
  EXPECT_THAT(text, HasSubstr("12 runs, 2026-03-01 to 2026-03-12 · 2 series · 1 changed · "
                              "1 with a wrong or crashed result\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(watch_text(report, {.colour = true}), HasSubstr("\x1b[33m    ▲ +10.0 %"));
}

TEST(WatchTerminal, says_when_the_commit_has_not_changed) {
  const WatchReport report =
      watch_runs(daily(12, [](int, RunResult& run) { run.environment.git_sha = "c0ffee"; }), {});
  EXPECT_THAT(watch_text(report), HasSubstr("the same commit as before"));
}

TEST(WatchTerminal, says_how_many_series_are_too_short) {
  EXPECT_THAT(watch_text(watch_runs(daily(9), {})),
              HasSubstr("1 of fewer than 10 values, too few to tell a change"));
}

TEST(WatchJson, says_what_the_terminal_says) {
  std::ostringstream out;
  write_watch_json(watch_runs(daily(12,
                                    [](int day, RunResult& run) {
                                      if (day == 2) run.records[0].outcome = Crashed{"SIGSEGV"};
                                    }),
                              {}),
                   out);
  const Json json = Json::parse(out.str());
  EXPECT_EQ(json["metric"], "median_us");
  EXPECT_EQ(json["unit"], "us");
  EXPECT_EQ(json["runs"][6]["commit"], "c0ffe07");
  const Json& series = json["series"][0];
  EXPECT_EQ(series["backend"], "splitkv");
  EXPECT_EQ(series["changes"][0]["run"], 6);
  EXPECT_NEAR(series["changes"][0]["ratio"].get<double>(), 1.10, 1e-3);
  EXPECT_TRUE(series["points"][2]["value"].is_null());
  EXPECT_EQ(series["points"][2]["gap"], "CRASHED: SIGSEGV");
  EXPECT_EQ(series["points"][2]["failed"], true);
}

}  // namespace
}  // namespace attnbench
