// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/sweep_trend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lib/result/testing/sample_run.h"
#include "lib/summary/doubts.h"

namespace attnbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kLength = "batch[0].kv_len";

Record at(const std::string& length, double median_us) {
  Record r = sample_run().records[0];
  r.case_id = "decode/kv_len" + length;
  r.mix = "decode";
  r.backend = "mine";
  r.sweep = {{kLength, length}};
  r.timing.median_us = median_us;
  return r;
}

RunResult swept_run(std::vector<Record> records) {
  RunResult run = sample_run();
  run.records = std::move(records);
  run.others = {0.01, 2};
  run.interrupted = false;
  return run;
}

/// The swept values of what is off.
std::vector<std::string> off(const std::vector<Record>& records) {
  const RunResult run = swept_run(records);
  std::vector<std::string> values;
  for (const OffTrend& each : off_trend(run)) {
    values.push_back(each.record->sweep.front().second);
  }
  return values;
}

TEST(OffTrend, finds_a_spike_and_a_dip) {
  EXPECT_THAT(off({at("1k", 10), at("2k", 20), at("4k", 200), at("8k", 80), at("16k", 160)}),
              ElementsAre("4k"));
  EXPECT_THAT(off({at("1k", 10), at("2k", 10), at("4k", 4), at("8k", 12)}), ElementsAre("4k"));
}

TEST(OffTrend, tells_by_how_much) {
  const RunResult run = swept_run({at("1k", 10), at("2k", 100), at("4k", 40)});
  const std::vector<OffTrend> found = off_trend(run);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].ratio, 5, 1e-9) << "20 lies between 10 and 40 on a straight line";
  EXPECT_EQ(found[0].along, kLength);
  EXPECT_THAT(doubts_of(run),
              ElementsAre("1 figure is more than 2 × off the trend of its sweep: "
                          "decode/kv_len2k/mine/cold/eager takes 5.00 × what its neighbours along "
                          "batch[0].kv_len lead to expect"));
}

TEST(OffTrend, names_the_farthest_of_several) {
  const RunResult run =
      swept_run({at("1k", 10), at("2k", 100), at("4k", 10), at("8k", 1), at("16k", 9)});
  EXPECT_THAT(off_trend_text(run),
              testing::StartsWith("2 figures are more than 2 × off the trend of their sweep: "
                                  "decode/kv_len2k/mine/cold/eager takes 10.0 ×"));
}

TEST(OffTrend, takes_values_in_the_order_of_their_numbers) {
  EXPECT_THAT(off({at("4k", 40), at("512", 5), at("1k", 10), at("2k", 20)}), IsEmpty());
}

TEST(OffTrend, takes_the_knee_of_a_curve_for_what_it_is) {
  EXPECT_THAT(off({at("1k", 10), at("16k", 10), at("256k", 160), at("1024k", 640)}), IsEmpty())
      << "10 is a quarter of what a straight line leads to expect";
  EXPECT_THAT(off({at("1k", 10), at("2k", 10), at("4k", 60), at("8k", 120)}), IsEmpty())
      << "a step up is no outlier";
}

TEST(OffTrend, compares_within_a_backend_and_a_mode_and_with_the_same_other_values) {
  Record other = at("2k", 200), warm = at("2k", 200), large = at("2k", 200), wrong = at("2k", 200);
  other.backend = "other";
  warm.cache = CacheState::kWarm;
  large.sweep.emplace_back("kv_cache.page_size", "64");
  wrong.outcome = Incorrect{"wrong", true};
  for (const Record& each : {other, warm, large, wrong}) {
    EXPECT_THAT(off({at("1k", 10), each, at("4k", 10)}), IsEmpty());
  }
  EXPECT_THAT(off({at("1k", 10), at("2k", 200), at("4k", 10)}), ElementsAre("2k"));
}

TEST(OffTrend, leaves_values_out_that_are_no_numbers) {
  EXPECT_THAT(off({at("bf16", 10), at("e4m3", 200), at("f16", 10)}), IsEmpty());
}

TEST(OffTrend, has_nothing_to_say_at_the_ends) {
  EXPECT_THAT(off({at("1k", 500), at("2k", 20), at("4k", 900)}), ElementsAre("2k"));
  EXPECT_THAT(off({at("1k", 500), at("2k", 20)}), IsEmpty());
}

}  // namespace
}  // namespace attnbench
