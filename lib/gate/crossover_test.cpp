// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/crossover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "lib/gate/testing/measured_run.h"
#include "lib/view/json.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

using RatioAt = std::function<double(std::int64_t value)>;

constexpr CrossoverAxis kAxis{.from = 512, .to = 131072, .most_points = 20};

CrossoverPoint measured(std::int64_t value, double ratio, double half_width = 0.01) {
  SpeedEvidence speed;
  speed.base_us = 100;
  speed.new_us = 100 * ratio;
  speed.time = {ratio, ratio - half_width, ratio + half_width};
  speed.paired = true;
  speed.pairs = 12;
  return {value, speed};
}

CrossoverReport search(const RatioAt& ratio, const CrossoverAxis& axis = kAxis) {
  CrossoverReport report{"chat", "batch[0].kv_len", "splitkv", "paged_fa"};
  search_crossover(
      axis, [&](std::int64_t value) { return measured(value, ratio(value)); }, report);
  return report;
}

std::vector<std::int64_t> values_of(const CrossoverReport& report) {
  std::vector<std::int64_t> values;
  for (const CrossoverPoint& point : report.points) values.push_back(point.value);
  return values;
}

Json crossover_json(const CrossoverReport& report, int exit_code = 0) {
  std::ostringstream out;
  write_crossover_json(report, measured_run({}), exit_code, out);
  return Json::parse(out.str());
}

std::string crossover_page(const CrossoverReport& report, const TextOptions& options = {}) {
  std::ostringstream out;
  write_crossover_terminal(report, options, out);
  return out.str();
}

TEST(Crossover, has_a_lead_where_the_interval_holds_no_equality) {
  EXPECT_EQ(lead_of(measured(1, 1.011).speed), Lead::kBase);
  EXPECT_EQ(lead_of(measured(1, 1.009).speed), Lead::kTie);
  EXPECT_EQ(lead_of(measured(1, 0.991).speed), Lead::kTie);
  EXPECT_EQ(lead_of(measured(1, 0.989).speed), Lead::kNew);
}

TEST(Crossover, is_found_by_bisection_within_five_percent) {
  for (const std::int64_t place : {600, 3100, 8192, 100000}) {
    const CrossoverReport report =
        search([&](std::int64_t value) { return value < place ? 1.2 : 0.8; });
    const auto stretches = stretches_of(report.points);
    ASSERT_THAT(stretches, SizeIs(2));
    EXPECT_EQ(stretches[0].lead, Lead::kBase);
    EXPECT_EQ(stretches[1].lead, Lead::kNew);
    EXPECT_LT(stretches[0].last, place);
    EXPECT_GE(stretches[1].first, place);
    EXPECT_LT(stretches[1].first, 1.05 * static_cast<double>(stretches[0].last));
    EXPECT_LE(report.points.size(), 10u);
    EXPECT_EQ(report.ended, "");
  }
}

TEST(Crossover, probes_the_ends_first_and_then_round_middles) {
  std::vector<CrossoverPoint> points;
  EXPECT_EQ(next_probe(points, kAxis), 512);
  points.push_back(measured(512, 1.2));
  EXPECT_EQ(next_probe(points, kAxis), 131072);
  points.push_back(measured(131072, 0.8));
  EXPECT_EQ(next_probe(points, kAxis), 8192);
  points.push_back(measured(8192, 0.9));
  EXPECT_EQ(next_probe(points, kAxis), 2048);
  points.push_back(measured(2048, 1.1));
  EXPECT_EQ(next_probe(points, kAxis), 4096);
  points.push_back(measured(4096, 0.9));
  EXPECT_EQ(next_probe(points, kAxis), 2880) << "2,896, in steps of 64";
}

TEST(Crossover, narrows_a_tie_from_both_sides) {
  const CrossoverReport report = search([](std::int64_t value) {
    return value < 3000 ? 1.2 : value < 3600 ? 1.0 : 0.8;
  });
  const auto stretches = stretches_of(report.points);
  ASSERT_THAT(stretches, SizeIs(3));
  EXPECT_EQ(stretches[1].lead, Lead::kTie);
  EXPECT_NEAR(static_cast<double>(stretches[0].last), 3000, 150);
  EXPECT_NEAR(static_cast<double>(stretches[2].first), 3600, 180);
  EXPECT_THAT(crossover_text(report), HasSubstr("a tie from "));
}

TEST(Crossover, looks_between_ends_that_agree_and_says_that_one_wins_everywhere) {
  const CrossoverReport report = search([](std::int64_t) { return 1.3; });
  EXPECT_THAT(values_of(report), ElementsAre(512, 2048, 8192, 32768, 131072));
  EXPECT_EQ(crossover_text(report),
            "no crossover: splitkv is faster at every value probed, 512 to 131,072");
  EXPECT_EQ(crossover_text(search([](std::int64_t) { return 1.0; })),
            "no crossover: a tie at every value probed, 512 to 131,072");
}

TEST(Crossover, finds_two_between_ends_that_agree) {
  const CrossoverReport report =
      search([](std::int64_t value) { return value > 4000 && value < 20000 ? 0.8 : 1.2; }, kAxis);
  EXPECT_THAT(stretches_of(report.points), SizeIs(3));
  EXPECT_THAT(crossover_text(report), HasSubstr("crossover between 3,"));
  EXPECT_THAT(crossover_text(report), HasSubstr(" and between 19,"));
}

TEST(Crossover, of_small_whole_numbers_ends_at_neighbours) {
  const CrossoverReport report =
      search([](std::int64_t value) { return value < 4 ? 1.2 : 0.8; }, {.from = 1, .to = 8});
  EXPECT_EQ(crossover_text(report), "crossover between 3 and 4: splitkv up to 3, paged_fa from 4");
  EXPECT_THAT(values_of(search([](std::int64_t) { return 2; }, {.from = 1, .to = 2})),
              ElementsAre(1, 2));
}

TEST(Crossover, ends_at_a_problem_a_stop_or_the_last_point_and_keeps_what_is_known) {
  CrossoverReport report{"chat", "batch[0].kv_len", "splitkv", "paged_fa"};
  search_crossover(
      kAxis,
      [](std::int64_t value) {
        CrossoverPoint point = measured(value, value < 3000 ? 1.2 : 0.8);
        if (value == 8192) point.problem = "paged_fa: INCORRECT: 3 NaN\x1b";
        return point;
      },
      report);
  EXPECT_THAT(values_of(report), ElementsAre(512, 8192, 131072));
  EXPECT_EQ(report.ended, "ended at 8192, which has no ratio");
  EXPECT_THAT(crossover_page(report), HasSubstr("8,192\n    paged_fa: INCORRECT: 3 NaN\\x1b\n"));
  EXPECT_EQ(crossover_text(report),
            "crossover between 512 and 131,072: splitkv up to 512, paged_fa from 131,072");

  report.points.clear();
  report.ended.clear();
  search_crossover(
      kAxis,
      [&](std::int64_t value) -> std::optional<CrossoverPoint> {
        if (value == 8192) return std::nullopt;
        return measured(value, 1.2);
      },
      report);
  EXPECT_THAT(values_of(report), ElementsAre(512, 131072));
  EXPECT_EQ(report.ended, "stopped before the end");
  EXPECT_TRUE(report.interrupted);

  const CrossoverReport few = search([](std::int64_t value) { return value < 3000 ? 1.2 : 0.8; },
                                     {.from = 512, .to = 131072, .most_points = 4});
  EXPECT_THAT(values_of(few), ElementsAre(512, 2048, 8192, 131072));
  EXPECT_EQ(few.ended, "ended after 4 points (--points)");
  EXPECT_FALSE(few.interrupted);
}

TEST(CrossoverTerminal, has_a_table_a_plot_and_the_place) {
  const CrossoverReport report =
      search([](std::int64_t value) { return value < 3000 ? 1.2 : 0.8; });
  const std::string text = crossover_page(report);
  EXPECT_THAT(text, HasSubstr("chat along batch[0].kv_len, both backends taking turns\n"
                              " kv_len  splitkv  paged_fa  ratio    99 % interval  faster\n"
                              "    512   100 µs    120 µs  1.200  (1.190 … 1.210)  splitkv\n"));
  EXPECT_THAT(text, HasSubstr("\npaged_fa / splitkv\n1.21 ┤"));
  EXPECT_THAT(text, HasSubstr("1.00 ┤┄"));
  EXPECT_THAT(text, HasSubstr("▲"));
  EXPECT_THAT(text, HasSubstr("crossover between 2,880 and 3,008: splitkv up to 2,880, paged_fa "
                              "from 3,008\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(CrossoverJson, has_every_value_and_both_sides_of_each_crossover) {
  const Json json = crossover_json(search([](std::int64_t value) {
    return value < 3000 ? 1.2 : value < 3600 ? 1.0 : 0.8;
  }));
  EXPECT_EQ(json["schema"], "attnbench.crossover");
  EXPECT_EQ(json["schema_version"], "1.2.0");
  EXPECT_EQ(json["case"], "chat");
  EXPECT_TRUE(json["new_case"].is_null());
  EXPECT_EQ(json["axis"], "batch[0].kv_len");
  EXPECT_EQ(json["base"], "splitkv");
  EXPECT_EQ(json["new"], "paged_fa");
  EXPECT_EQ(json["environment"]["device"]["name"], "NVIDIA H200");
  EXPECT_EQ(json["scenario"]["name"], "serving");
  EXPECT_EQ(json["interrupted"], false);
  EXPECT_EQ(json["ended"], "");
  ASSERT_THAT(json["crossovers"], SizeIs(1));
  EXPECT_EQ(json["crossovers"][0]["low"], json["stretches"][0]["last"]);
  EXPECT_EQ(json["crossovers"][0]["high"], json["stretches"][2]["first"]);
  EXPECT_EQ(json["crossovers"][0]["faster_before"], "splitkv");
  EXPECT_EQ(json["crossovers"][0]["faster_after"], "paged_fa");
  EXPECT_TRUE(json["stretches"][1]["faster"].is_null()) << "a tie";
  const Json& first = json["points"][0];
  EXPECT_EQ(first["value"], 512);
  EXPECT_EQ(first["faster"], "splitkv");
  EXPECT_EQ(first["problem"], "");
  EXPECT_EQ(first["speed"]["base_us"], 100);
  EXPECT_EQ(first["speed"]["new_us"], 120);
  EXPECT_EQ(first["speed"]["ratio"], Json({{"median", 1.2}, {"lo", 1.19}, {"hi", 1.21}}));
  EXPECT_EQ(first["speed"]["pairs"], 12);
}

TEST(Crossover, of_two_cases_names_the_cases) {
  CrossoverReport report =
      search([](std::int64_t value) { return value < 4 ? 1.2 : 0.8; }, {.from = 1, .to = 8});
  report.case_id = "absorbed";
  report.new_case = "expanded";
  report.base = report.now = "paged_fa";
  EXPECT_EQ(crossover_text(report), "crossover between 3 and 4: absorbed up to 3, expanded from 4");
  const std::string page = crossover_page(report);
  EXPECT_THAT(page, HasSubstr("absorbed (paged_fa) and expanded (paged_fa) along batch[0].kv_len, "
                              "one after the other\n"));
  EXPECT_THAT(page, HasSubstr("\nkv_len  absorbed  expanded  ratio         interval  faster\n"));
  EXPECT_THAT(page, HasSubstr("\nexpanded / absorbed\n"));
  const Json json = crossover_json(report);
  EXPECT_EQ(json["case"], "absorbed");
  EXPECT_EQ(json["new_case"], "expanded");
  EXPECT_EQ(json["base"], "paged_fa");
  EXPECT_EQ(json["crossovers"][0]["faster_after"], "expanded");
}

TEST(CrossoverJson, says_why_there_is_no_crossover) {
  const CrossoverReport agreed = search([](std::int64_t) { return 1.3; });
  Json json = crossover_json(agreed);
  EXPECT_EQ(json["crossovers"], Json::array());
  EXPECT_EQ(json["verdict"], crossover_text(agreed));

  CrossoverReport failed{"chat", "batch[0].kv_len", "splitkv", "paged_fa"};
  search_crossover(
      kAxis,
      [](std::int64_t value) {
        CrossoverPoint point = measured(value, 1.2);
        point.problem = "paged_fa: INCORRECT: 3 NaN";
        return point;
      },
      failed);
  json = crossover_json(failed, 2);
  EXPECT_EQ(json["exit_code"], 2);
  EXPECT_EQ(json["verdict"], "no ratio was measured");
  EXPECT_EQ(json["ended"], "ended at 512, which has no ratio");
  EXPECT_EQ(json["points"][0]["problem"], "paged_fa: INCORRECT: 3 NaN");
  EXPECT_TRUE(json["points"][0]["speed"].is_null());
  EXPECT_TRUE(json["points"][0]["faster"].is_null());
}

TEST(CrossoverJson, of_a_search_that_was_stopped_keeps_what_is_known) {
  CrossoverReport report{"chat", "batch[0].kv_len", "splitkv", "paged_fa"};
  search_crossover(
      kAxis,
      [](std::int64_t value) -> std::optional<CrossoverPoint> {
        if (value == kAxis.to) return std::nullopt;
        return measured(value, 1.2);
      },
      report);
  const Json json = crossover_json(report, 130);
  EXPECT_EQ(json["interrupted"], true);
  EXPECT_EQ(json["exit_code"], 130);
  EXPECT_EQ(json["ended"], "stopped before the end");
  EXPECT_THAT(json["points"], SizeIs(1));
}

}  // namespace
}  // namespace attnbench
