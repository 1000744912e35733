// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "lib/gate/testing/measured_run.h"
#include "lib/page/inline_text.h"
#include "lib/page/plot_facts.h"
#include "lib/page/testing/unpacked_column.h"
#include "lib/result/ranking.h"
#include "lib/result/testing/golden.h"
#include "lib/result/testing/sample_run.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string page_of(const PageContent& content) {
  std::ostringstream out;
  write_page(content, out);
  return std::move(out).str();
}

/// What stands between `begin` and the next `end`.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  if (from == std::string::npos) return "no " + begin;
  const std::size_t start = from + begin.size();
  return text.substr(start, text.find(end, start) - start);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

constexpr const char* kDataBegin = "<script type=\"application/json\" id=\"data\">";

Json data_in(const std::string& page) {
  return Json::parse(between(page, kDataBegin, "</script>"));
}

/// A row of the data as an object.
Json row(const Json& data, std::size_t index) {
  Json named;
  for (const Json& column : data["columns"]) {
    const bool computed_by_the_page = !column.contains("at") && !column.contains("figures");
    if (computed_by_the_page) continue;
    named[column["key"].get<std::string>()] = unpacked_column(column).at(index);
  }
  return named;
}

TEST(Page, holds_each_record_of_each_file) {
  const Json data =
      data_in(page_of({{{"a/r.json", sample_run()}, {"b/s.json", sample_run()}}, {}}));
  const std::size_t records = sample_run().records.size();
  ASSERT_EQ(data["row_count"], 2 * records);
  EXPECT_EQ(row(data, 0)["file"], 0);
  EXPECT_EQ(row(data, records)["file"], 1);
  EXPECT_EQ(data["files"][1]["environment"]["device"]["name"], "Sample CPU, 2 cores");
  EXPECT_EQ(data["comparison"], nullptr);
}

TEST(Page, has_the_closing_line_s_answer_and_what_speaks_against_it) {
  RunResult run = sample_run();
  run.others = {1.4, 2};
  const Json file = data_in(page_of({{{"r.json", run}}, {}}))["files"][0];
  EXPECT_EQ(file["answer"], answer_text(run));
  EXPECT_EQ(file["doubts"][0], "other programs kept 1.4 of 2 processors busy");
}

TEST(Page, explains_its_ranks_as_the_terminal_does) {
  const Json data = data_in(page_of({{{"r.json", sample_run()}}, {}}));
  for (const Json& column : data["columns"]) {
    if (column["key"] == "vs_best_text") {
      EXPECT_EQ(column["about"], kRankingLegend);
    }
  }
}

TEST(Page, tells_the_fate_of_each_record) {
  const Json data = data_in(page_of({{{"r.json", sample_run()}}, {}}));
  std::vector<std::string> fates;
  for (std::size_t i = 0; i < 8; ++i) fates.push_back(row(data, i)["fate"]);
  EXPECT_THAT(fates, ElementsAre("fine", "noisy", "failed", "not run", "failed", "doubtful",
                                 "failed", "not run"));
}

TEST(Page, holds_the_steps_of_each_file_s_models) {
  Record full = measured_cell("chat/full", "splitkv", 100);
  full.model_layers = {"full", 12, 24, ""};
  Record sliding = measured_cell("chat/sliding", "splitkv", 30);
  sliding.model_layers = {"sliding", 12, 24, ""};
  const Json data =
      data_in(page_of({{{"a.json", sample_run()}, {"b.json", measured_run({full, sliding})}}, {}}));
  EXPECT_EQ(data["files"][0]["model_steps"].size(), 0u);
  ASSERT_EQ(data["files"][1]["model_steps"].size(), 1u);
  const Json& step = data["files"][1]["model_steps"][0];
  EXPECT_EQ(step["step"], "chat");
  EXPECT_DOUBLE_EQ(step["model_step_us"].get<double>() - step["parts"][0]["host_us"].get<double>() -
                       step["parts"][1]["host_us"].get<double>(),
                   12 * 100 + 12 * 30);
}

TEST(Page, keeps_its_data_as_it_was) {
  RunResult run = sample_run();
  run.records.resize(3);
  Json data = page_data({{{"r.json", run}}, {}});
  for (int i = 0; i < 3; ++i) data["rows"].push_back(row(data, static_cast<std::size_t>(i)));
  data["columns"].clear();
  expect_golden("lib/page/testdata/page_data.json", data.dump(1) + '\n');
}

TEST(Page, no_name_can_leave_the_data_block) {
  const std::string name = "</script><!--<script>alert(1)</script>\u2028\u2029]]>&lt;{{script}}";
  Record record = measured_cell(name, name, 100);
  record.mix = record.model = record.scenario = record.repro = name;
  const std::string page = page_of({{{name, measured_run({record})}}, {}});
  const std::string clean = page_of({{{"r.json", sample_run()}}, {}});
  EXPECT_EQ(count(page, "<script"), count(clean, "<script"));
  EXPECT_EQ(count(page, "</script"), count(clean, "</script"));
  const std::string block = between(page, kDataBegin, "</script>");
  for (const char* const dangerous : {"<", ">", "&", "\u2028", "\u2029"}) {
    EXPECT_THAT(block, Not(HasSubstr(dangerous)));
  }
  EXPECT_EQ(row(data_in(page), 0)["backend"], name);
  EXPECT_EQ(data_in(page)["files"][0]["path"], name);
}

// 50,000 cells fit 10 MB, and so do two files of as many with their comparison.
TEST(Page, takes_100_bytes_a_cell) {
  constexpr std::size_t kCells = 5'000;
  const std::vector<Record> some = sample_run().records;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> factor(0.5, 2);
  RunResult run = sample_run();
  run.records.clear();
  while (run.records.size() < kCells) {
    Record record = some[run.records.size() % some.size()];
    record.case_id += "/v" + std::to_string(run.records.size() / some.size());
    record.repro = "attnbench run serving.yaml --case " + record.case_id + " --backend " +
                   record.backend + " --cache cold --launch graph --seed 7";
    record.fixture_hash = std::to_string(random());
    const double k = factor(random);
    for (double* const each : {&record.timing.median_us, &record.timing.lo_us, &record.timing.hi_us,
                               &record.timing.enqueue_us, &record.plan.median_us, &record.roofline,
                               &record.error.max_abs, &record.error.nmse, &record.error.bound_ratio,
                               &record.error.rms_ratio, &record.error.lse_bound_ratio}) {
      *each *= k;
    }
    run.records.push_back(std::move(record));
  }
  RunResult none = run;
  none.records.clear();
  const std::size_t frame = page_of({{{"r.json", none}}, {}}).size();
  EXPECT_LT(page_of({{{"r.json", run}}, {}}).size() - frame, 100 * kCells);
}

TEST(Page, survives_bytes_that_are_no_text) {
  const std::string page =
      page_of({{{"r.json", measured_run({measured_cell("a\xff\x80", "b", 9)})}}, {}});
  EXPECT_EQ(row(data_in(page), 0)["case"], "a\ufffd\ufffd");
}

TEST(Page, fetches_nothing_and_runs_only_its_own_scripts) {
  const std::string page = page_of({{{"r.json", sample_run()}}, {}});
  const std::string policy = between(page, "Content-Security-Policy\" content=\"", "\"");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_THAT(policy, HasSubstr(policy_hash(between(page, "<style>", "</style>"))));
  const std::string after_data = page.substr(page.find("</script>"));
  const std::size_t first = after_data.find("<script>");
  EXPECT_THAT(policy, HasSubstr(policy_hash(between(after_data, "<script>", "</script>"))));
  EXPECT_THAT(
      policy,
      HasSubstr(policy_hash(between(after_data.substr(first + 1), "<script>", "</script>"))));
  for (const char* const loads : {" src=", "<link", "@import", "url("}) {
    EXPECT_THAT(page.substr(0, page.find(kDataBegin)), Not(HasSubstr(loads)));
  }
}

// The hash of the empty text, which everyone who has printed one knows.
TEST(Page, hashes_as_the_standard_says) {
  EXPECT_EQ(policy_hash(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
}

TEST(Page, shows_the_verdicts_of_a_comparison) {
  const RunResult base = measured_run({measured_cell("decode", "splitkv", 100)});
  const RunResult now = measured_run({measured_cell("decode", "splitkv", 150)});
  GateReport report = compare_runs(base, now, {.trust_sequential = true});
  const Json data = data_in(page_of({{{"a.json", base}, {"b.json", now}}, report}));
  const Json cell = row(data["comparison"], 0);
  EXPECT_EQ(cell["verdict_text"], "REGRESSED");
  EXPECT_EQ(cell["is_harm"], true);
  EXPECT_EQ(cell["speed/ratio/median"], 1.5);
}

TEST(Page, names_a_file_by_its_last_part_unless_two_share_it) {
  EXPECT_THAT(file_labels({{"a/r.json", {}}, {"b/r.json", {}}, {"b/s.json", {}}}),
              ElementsAre("a/r.json", "b/r.json", "s.json"));
}

TEST(Page, keeps_all_digits_of_a_seed) {
  RunResult run = sample_run();
  run.scenarios[0].seed = 18446744073709551615u;
  EXPECT_EQ(page_data({{{"r.json", run}}, {}})["files"][0]["scenarios"][0]["seed"],
            "18446744073709551615");
}

TEST(PlotFacts, a_workload_is_what_stays_when_lengths_change) {
  Record record = measured_cell("decode/x", "splitkv", 1);
  EXPECT_EQ(workload_of(record), "decode");
  record.sweep = {
      {"batch[0].count", "64"}, {"batch[0].kv_len", "8k"}, {"kv_cache.page_size", "16"}};
  EXPECT_EQ(workload_of(record), "decode · count 64 · page_size 16");
  record.sweep = {{"batch[0].count", "64"}, {"batch[1].count", "2"}};
  EXPECT_EQ(workload_of(record), "decode · batch[0].count 64 · batch[1].count 2");
}

TEST(PlotFacts, a_record_without_requests_or_operations_has_no_place_on_a_plot) {
  Record record = measured_cell("decode", "splitkv", 1);
  EXPECT_EQ(mean_kv_len(record), std::nullopt);
  EXPECT_EQ(arithmetic_intensity(record), std::nullopt);
  record.requests = 4;
  record.kv_tokens = 10;
  record.cost.flops = 300;
  record.cost.bytes_unique = 200;
  EXPECT_EQ(mean_kv_len(record), 2.5);
  EXPECT_EQ(arithmetic_intensity(record), 1.5);
}

}  // namespace
}  // namespace attnbench
