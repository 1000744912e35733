// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/index_scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "lib/batch/index_scores.h"

namespace attnbench {
namespace {

Case decodes_of(std::int64_t keys) {
  Case c;
  c.seed = 3;
  c.layer.heads_q = c.layer.heads_kv = 1;
  c.layer.head_dim_qk = c.layer.head_dim_v = 16;
  c.layer.selection.topk = 16;
  c.requests.resize(64);
  for (Request& each : c.requests) each.kv_len = keys;
  return c;
}

std::vector<float> scores(const Case& c, Fill fill, std::int64_t request) {
  std::vector<float> row(static_cast<std::size_t>(c.requests.front().kv_len));
  write_index_scores(Contents(c, fill), request, 0, 0, row);
  return row;
}

TEST(IndexScores, count_whole_and_open_units_up_to_the_query) {
  Case c = decodes_of(10);
  c.layer.selection.unit = 4;
  EXPECT_EQ(scored_units(c, c.requests[0], 0), 3);
  c.requests[0].q_len = 3;
  EXPECT_EQ(scored_units(c, c.requests[0], 0), 2);
  c.requests[0].kv_len = 1;  // more queries than keys
  EXPECT_EQ(scored_units(c, c.requests[0], 0), 0);
  EXPECT_EQ(scored_units(c, c.requests[0], 2), 1);
}

TEST(IndexScores, count_no_tail) {
  Case c = decodes_of(11);
  c.layer.selection.unit = 4;
  const auto counted = [&](SelectionTail tail, std::int64_t keys) {
    c.layer.selection.tail = tail;
    c.requests[0].kv_len = keys;
    return scored_units(c, c.requests[0], 0);
  };
  EXPECT_EQ(counted(SelectionTail::kCounted, 11), 3);
  EXPECT_EQ(counted(SelectionTail::kOpen, 11), 2);
  EXPECT_EQ(counted(SelectionTail::kOwn, 11), 2);
  EXPECT_EQ(counted(SelectionTail::kOpen, 12), 3) << "all are complete";
  EXPECT_EQ(counted(SelectionTail::kOwn, 12), 2);
  EXPECT_EQ(counted(SelectionTail::kOwn, 0), 0);
}

TEST(IndexScores, are_finite_and_plant_ties_neighbours_negative_rows_and_best_newest_units) {
  const Case c = decodes_of(1000);
  int tied = 0, near = 0, negative = 0, newest = 0;
  for (std::int64_t r = 0; r < 64; ++r) {
    std::vector<float> row = scores(c, Fill::kNormal, r);
    EXPECT_TRUE(std::ranges::all_of(row, [](float x) { return std::isfinite(x); }));
    newest += row.back() == std::ranges::max(row) ? 1 : 0;
    std::ranges::sort(row);
    const std::set<float> distinct(row.begin(), row.end());
    tied += distinct.size() < 100 ? 1 : 0;
    near += std::ranges::adjacent_find(
                row, [](float a, float b) { return b == std::nextafter(a, 100.0f); }) != row.end();
    negative += row.back() < 0 ? 1 : 0;
  }
  EXPECT_GT(tied, 10);
  EXPECT_GT(near, 5);
  EXPECT_GT(negative, 10);
  EXPECT_GT(newest, 20);
  EXPECT_LT(newest, 64);
}

TEST(IndexScores, of_timing_data_are_spread_as_an_indexer_leaves_them) {
  const Case c = decodes_of(4096);
  for (std::int64_t r = 0; r < 8; ++r) {
    const std::vector<float> row = scores(c, Fill::kTiming, r);
    EXPECT_GT(std::set<float>(row.begin(), row.end()).size(), 4000u);
    EXPECT_NE(row, scores(c, Fill::kTiming, r + 1));
  }
}

TEST(IndexScores, of_a_timed_sample_differ_in_few_units_which_are_the_best_and_the_worst) {
  const Case c = decodes_of(4096);
  for (std::int64_t r = 0; r < 8; ++r) {
    const std::vector<float> before = scores(c, Fill::kTiming, r);
    std::vector<float> row(before.size());
    write_index_scores(Contents(c, 3), r, 0, 0, row);
    std::multiset<float> changed;
    for (std::size_t unit = 0; unit < row.size(); ++unit) {
      if (row[unit] != before[unit]) changed.insert(row[unit]);
    }
    ASSERT_EQ(changed.size(), 4u);
    EXPECT_GT(*std::next(changed.begin(), 2), std::ranges::max(before));
    EXPECT_LT(*std::next(changed.begin()), std::ranges::min(before));
  }
}

TEST(IndexScores, that_are_maxima_have_the_query_s_own_unit_above_all) {
  Case c = decodes_of(328);
  c.step = StepPart::kSelect;
  c.layer.selection = {.topk = 4, .unit = 8, .score = SelectionScore::kMax};
  const auto last_of = [&](const Contents& contents, std::int64_t units) {
    std::vector<float> row(static_cast<std::size_t>(units));
    write_index_scores(contents, 0, 0, 0, row);
    EXPECT_EQ(std::ranges::count_if(row, [](float score) { return score > 100; }), 1);
    return row.back();
  };
  for (const std::int64_t units : {1, 2, 3, 40, 41}) {
    for (const Fill fill : {Fill::kNormal, Fill::kNeedle, Fill::kTiming}) {
      EXPECT_EQ(last_of(Contents(c, fill), units), kOwnUnitScore);
    }
    for (std::int64_t number = 1; number < 20; ++number) {
      EXPECT_EQ(last_of(Contents(c, number), units), kOwnUnitScore) << "in sample " << number;
    }
  }
}

TEST(IndexScores, lie_before_numbers_that_rank_above_them) {
  EXPECT_TRUE(std::isinf(behind_index_scores(4)) && behind_index_scores(4) > 0);
  EXPECT_TRUE(std::isnan(behind_index_scores(5)));
  EXPECT_FALSE(std::signbit(behind_index_scores(5)));
}

}  // namespace
}  // namespace attnbench
