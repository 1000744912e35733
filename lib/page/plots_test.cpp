// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/plots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/gate/testing/measured_run.h"
#include "lib/page/log_scale.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Record cell_of_length(const std::string& backend, std::int64_t kv_len, double us) {
  Record record = measured_cell("decode/" + std::to_string(kv_len), backend, us);
  record.device = "NVIDIA H200";
  record.requests = 8;
  record.kv_tokens = 8 * kv_len;
  record.cost.flops = kv_len * 1'000'000;
  record.cost.bytes_unique = kv_len * 100'000;
  return record;
}

RunResult lengths_run() {
  RunResult run =
      measured_run({cell_of_length("splitkv", 4096, 90), cell_of_length("splitkv", 1024, 30),
                    cell_of_length("paged<&>fa", 1024, 29)});
  run.devices = {{run.environment.device, {4e12, 3.5e12, 8e14}}};
  return run;
}

std::string svg_of(const SvgPlot& plot) {
  std::ostringstream out;
  write_svg(plot, out);
  return std::move(out).str();
}

TEST(Plots, latency_joins_the_lengths_of_a_workload) {
  const SvgPlot plot = latency_plot({{"r.json", lengths_run()}});
  ASSERT_EQ(plot.series.size(), 2u);
  EXPECT_EQ(plot.series[0].name, "splitkv");
  ASSERT_EQ(plot.series[0].curves.size(), 1u);
  EXPECT_EQ(plot.series[0].curves[0].points[0].x, 4096);
  EXPECT_DOUBLE_EQ(plot.series[0].curves[0].points[0].hi, 90 * 1.004);
  EXPECT_EQ(plot.title, "Latency by length (cold) · NVIDIA H200 · serving");
}

TEST(Plots, roofline_has_the_roof_of_the_device_and_no_joined_points) {
  const SvgPlot plot = roofline_plot({{"r.json", lengths_run()}});
  ASSERT_EQ(plot.lines.size(), 1u);
  EXPECT_DOUBLE_EQ(plot.lines[0](10), 40);
  EXPECT_DOUBLE_EQ(plot.lines[0](1e6), 800);
  EXPECT_THAT(plot.line_bends, ElementsAre(200));
  EXPECT_EQ(plot.series[0].curves.size(), 2u);
  EXPECT_DOUBLE_EQ(plot.series[0].curves[0].points[0].x, 10);
}

TEST(Plots, files_beside_each_other_have_series_of_their_own) {
  const SvgPlot plot = latency_plot({{"a.json", lengths_run()}, {"b.json", lengths_run()}});
  ASSERT_EQ(plot.series.size(), 4u);
  EXPECT_EQ(plot.series[2].name, "splitkv · b.json");
}

TEST(Plots, latency_tells_the_workloads_of_a_backend_apart) {
  RunResult run = measured_run({});
  for (const char* const page_size : {"1", "16", "64"}) {
    for (const std::int64_t kv_len : {1024, 4096}) {
      Record record = cell_of_length("splitkv", kv_len, static_cast<double>(kv_len) / 40);
      record.sweep = {{"kv_cache.page_size", page_size}, {"batch[0].kv_len", "x"}};
      run.records.push_back(record);
    }
  }
  const SvgPlot plot = latency_plot({{"r.json", run}});
  ASSERT_EQ(plot.series.size(), 1u);
  ASSERT_EQ(plot.series[0].curves.size(), 3u);
  EXPECT_EQ(plot.series[0].curves[2].kind, 2u);
  EXPECT_THAT(plot.kinds, ElementsAre("page_size 1", "page_size 16", "page_size 64"));
  const std::string svg = svg_of(plot);
  EXPECT_THAT(svg, HasSubstr(">2  page_size 16</text>"));
  EXPECT_THAT(svg, HasSubstr(">3</text>"));
  std::set<std::string> dashes;
  const std::regex line("<polyline[^>]*stroke=\"#0072b2\"( stroke-dasharray=\"[^\"]*\")?");
  for (std::sregex_iterator each(svg.begin(), svg.end(), line), end; each != end; ++each) {
    dashes.insert((*each)[1]);
  }
  EXPECT_EQ(dashes.size(), 3u);
}

TEST(Plots, latency_of_one_workload_needs_no_numbers) {
  const SvgPlot plot = latency_plot({{"r.json", lengths_run()}});
  EXPECT_EQ(plot.kinds.size(), 1u);
  EXPECT_THAT(svg_of(plot), Not(HasSubstr(">1</text>")));
}

TEST(Plots, a_legend_of_many_lines_leaves_room_for_the_plot) {
  RunResult run = measured_run({});
  for (int i = 0; i < 60; ++i) {
    Record record = cell_of_length("splitkv", 1024, 30 + i);
    record.sweep = {{"batch[0].count", std::to_string(i)}};
    run.records.push_back(record);
  }
  const std::string svg = svg_of(latency_plot({{"r.json", run}}));
  const double height = std::stod(svg.substr(svg.find("viewBox=\"0 0 720 ") + 17));
  EXPECT_GT(height, 440);
}

TEST(Plots, names_cannot_become_markup) {
  const std::string svg = svg_of(latency_plot({{"r.json", lengths_run()}}));
  EXPECT_THAT(svg, HasSubstr("paged&lt;&amp;&gt;fa"));
  EXPECT_THAT(svg, Not(HasSubstr("paged<")));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr(">4k</text>"));
  EXPECT_THAT(svg, HasSubstr(">50 µs</text>"));
}

TEST(Plots, a_result_without_times_is_refused) {
  EXPECT_THROW((void)latency_plot({{"r.json", measured_run({})}}), ConfigError);
  EXPECT_THROW((void)roofline_plot({{"r.json", measured_run({})}}), ConfigError);
}

TEST(LogScale, maps_values_and_chooses_ticks) {
  const LogScale scale({1, 100, 0, -5}, 0, 1000);
  EXPECT_NEAR(scale(10), 500, 1e-9);
  EXPECT_THAT(scale.decimal_ticks(), ElementsAre(1, 2, 5, 10, 20, 50, 100));
  EXPECT_THAT(LogScale({1, 1e5}, 0, 1).decimal_ticks(), ElementsAre(1, 10, 100, 1e3, 1e4, 1e5));
  EXPECT_THAT(LogScale({1024, 8192}, 0, 1).binary_ticks(), ElementsAre(1024, 2048, 4096, 8192));
  EXPECT_LE(LogScale({1, 1e6}, 0, 1).binary_ticks().size(), 9u);
}

}  // namespace
}  // namespace attnbench
