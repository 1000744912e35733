// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/tuning_summary.h"

#include <gmock/gmock.h>

#include "lib/result/testing/sample_run.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using testing::Not;

Record trial(const char* case_id, const char* backend, double median_us, const char* flag = "") {
  Record r = sample_run().records[0];
  r.case_id = case_id;
  r.backend = backend;
  r.engine_flag = flag;
  r.sweep.clear();
  r.timing.median_us = median_us;
  r.timing.lo_us = median_us * 0.99;
  r.timing.hi_us = median_us * 1.01;
  return r;
}

RunResult tried(std::vector<Record> records) {
  RunResult run = sample_run();
  run.records = std::move(records);
  return run;
}

/// 16 is best in two cases of three, 8 as good as 16 in all, and 32 in the third.
RunResult values_of_splits() {
  return tried({trial("a", "kernel", 90), trial("a", "kernel:splits=8", 100.5, "--splits 8"),
                trial("a", "kernel:splits=16", 100, "--splits 16"),
                trial("a", "kernel:splits=32", 130, "--splits 32"),
                trial("b", "kernel:splits=8", 50.5, "--splits 8"),
                trial("b", "kernel:splits=16", 50, "--splits 16"),
                trial("b", "kernel:splits=32", 70, "--splits 32")});
}

TEST(TuningSummary, prints_the_best_value_with_the_flag_that_sets_it) {
  const std::string text = tuning_terminal_section(values_of_splits(), 120);
  EXPECT_THAT(text, HasSubstr("kernel:splits: 16 is the best of 3 choices (geomean vs best 1.00; "
                              "as good: 8); to set it: --splits 16"));
  EXPECT_THAT(tuning_markdown_section(values_of_splits()),
              HasSubstr("- kernel:splits: 16 is the best"));
}

TEST(TuningSummary, names_the_cells_where_another_value_is_faster) {
  RunResult run = values_of_splits();
  run.records.push_back(trial("c", "kernel:splits=8", 200));
  run.records.push_back(trial("c", "kernel:splits=16", 200));
  run.records.push_back(trial("c", "kernel:splits=32", 160));
  const std::vector<TuningSummary> summaries = tuning_summaries(run);
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_EQ(summaries[0].best, "16");
  EXPECT_NEAR(summaries[0].geomean, 1.0772, 1e-4);
  EXPECT_EQ(summaries[0].as_good, "") << "8 is slower than 32 in a cell";
  ASSERT_EQ(summaries[0].exceptions.size(), 1u);
  EXPECT_EQ(summaries[0].exceptions[0].cell, "c, cold, eager");
  EXPECT_EQ(summaries[0].exceptions[0].value, "32");
  EXPECT_DOUBLE_EQ(summaries[0].exceptions[0].ratio, 1.25);
  EXPECT_THAT(tuning_terminal_section(run, 120),
              HasSubstr("c, cold, eager: 32 is faster, 16 takes 1.25 times as long"));
}

TEST(TuningSummary, says_where_intervals_are_too_wide_to_tell) {
  RunResult run = values_of_splits();
  EXPECT_FALSE(tuning_summaries(run).at(0).open);
  run.records.at(1).timing.status = MeasureStatus::kNoisy;  // 8 in case a
  const TuningSummary summary = tuning_summaries(run).at(0);
  EXPECT_TRUE(summary.open);
  EXPECT_EQ(summary.as_good, "");
  EXPECT_THAT(tuning_terminal_section(run, 200),
              HasSubstr("1.00; some intervals are too wide to tell); to set it: --splits 16"));
}

TEST(TuningSummary, prefers_a_value_that_ran_everywhere) {
  RunResult run = values_of_splits();
  run.records.push_back(trial("a", "kernel:splits=64", 60));  // refused in b
  EXPECT_EQ(tuning_summaries(run).at(0).best, "16");
}

TEST(TuningSummary, says_nothing_of_a_single_value_of_failures_and_of_seconds_of_pairs) {
  Record wrong = trial("a", "kernel:splits=16", 10);
  wrong.outcome = Incorrect{"wrong", true};
  EXPECT_EQ(tuning_terminal_section(
                tried({trial("a", "kernel:splits=8", 20), wrong,
                       trial("a", "kernel:splits=8#2", 20), trial("a", "kernel", 20)}),
                120),
            "");
}

TEST(TuningSummary, names_the_best_pair_or_the_single_backend_that_is_better) {
  std::vector<Record> records = {trial("m", "a", 30), trial("m", "b", 25),
                                 trial("m", "a+b", 20, "--prefill a --decode b"),
                                 trial("m", "b+a", 40), trial("decode", "b", 5)};
  EXPECT_THAT(
      tuning_terminal_section(tried(records), 200),
      HasSubstr("prefill+decode: a+b is the best of 4 choices (geomean vs best 1.00); to set "
                "it: --prefill a --decode b"));
  records[1].timing.median_us = records[1].timing.lo_us = records[1].timing.hi_us = 10;
  EXPECT_THAT(tuning_terminal_section(tried(records), 200),
              HasSubstr("prefill+decode: b is the best of 4 choices"));
  EXPECT_EQ(tuning_terminal_section(tried({records[0], records[1]}), 200), "");
}

TEST(TuningSummary, compares_page_sizes_of_a_sweep_for_each_backend) {
  const auto paged = [](const char* backend, const char* page_size, const char* kv, double us) {
    Record r = trial((std::string(page_size) + kv).c_str(), backend, us);
    r.mix = "decode";
    r.sweep = {{"kv_cache.page_size", page_size}, {"batch[0].kv_len", kv}};
    return r;
  };
  const std::string text =
      tuning_terminal_section(tried({paged("one", "16", "1k", 10), paged("one", "64", "1k", 8),
                                     paged("two", "16", "1k", 7), paged("two", "64", "1k", 9),
                                     paged("one", "16", "8k", 50), paged("one", "64", "8k", 70)}),
                              200);
  EXPECT_THAT(text, HasSubstr("one page_size: 16 is the best of 2 choices"));
  EXPECT_THAT(text, HasSubstr("to set it: SGLang: --page-size 16, vLLM: --block-size 16"));
  EXPECT_THAT(text, HasSubstr("decode batch[0].kv_len=1k, cold, eager: 64 is faster"));
  EXPECT_THAT(text, HasSubstr("two page_size: 16 is the best"));
  EXPECT_THAT(text, Not(HasSubstr("kv_len=8k")));
}

}  // namespace
}  // namespace attnbench
