// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/statistics.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <vector>

#include "lib/base/error.h"

namespace attnbench {
namespace {

/// n, n - 1, …, 1: unsorted on purpose.
std::vector<double> descending(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.rbegin(), values.rend(), 1.0);
  return values;
}

TEST(Median, of_odd_and_even_counts) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(std::vector<double>{7}), 7);
}

TEST(Median, refuses_nothing_and_nan) {
  EXPECT_THROW((void)median(std::vector<double>{}), InternalError);
  EXPECT_THROW((void)median(std::vector<double>{1, std::numeric_limits<double>::quiet_NaN()}),
               InternalError);
}

struct TableRow {
  int n;
  int k95;
  double coverage95;
  int k99;
  double coverage99;
};

// Computed from the binomial distribution by hand; k = 0: no order statistic reaches the level.
class MedianIntervalTable : public testing::TestWithParam<TableRow> {};

TEST_P(MedianIntervalTable, takes_the_innermost_order_statistic_that_covers) {
  const TableRow& row = GetParam();
  const std::vector<double> values = descending(row.n);
  const auto expect_interval = [&](double level, int k, double coverage) {
    const MedianInterval interval = median_interval(values, level);
    EXPECT_EQ(interval.k, k) << "n = " << row.n;
    EXPECT_NEAR(interval.coverage, coverage, 0.0005) << "n = " << row.n;
    const int rank = k > 0 ? k : 1;
    EXPECT_EQ(interval.lo, rank);
    EXPECT_EQ(interval.hi, row.n + 1 - rank);
  };
  expect_interval(0.95, row.k95, row.coverage95);
  expect_interval(0.99, row.k99, row.coverage99);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, MedianIntervalTable,
    testing::Values(TableRow{5, 0, 0.9375, 0, 0.9375}, TableRow{6, 1, 0.969, 0, 0.969},
                    TableRow{8, 1, 0.992, 1, 0.992}, TableRow{10, 2, 0.979, 1, 0.998},
                    TableRow{12, 3, 0.961, 2, 0.994}, TableRow{15, 4, 0.965, 3, 0.993},
                    TableRow{20, 6, 0.959, 4, 0.997}, TableRow{30, 10, 0.957, 8, 0.995}));

TEST(MedianInterval, of_one_value_covers_nothing_and_says_so) {
  const MedianInterval interval = median_interval(std::vector<double>{3}, 0.95);
  EXPECT_EQ(interval.lo, 3);
  EXPECT_EQ(interval.hi, 3);
  EXPECT_EQ(interval.k, 0);
  EXPECT_EQ(interval.coverage, 0);
}

TEST(MedianInterval, stays_right_for_thousands_of_values) {
  const MedianInterval interval = median_interval(descending(4000), 0.95);
  // Normal approximation: 2000 - 1.96 sqrt(4000) / 2.
  EXPECT_NEAR(interval.k, 2000 - 62, 1);
  EXPECT_GE(interval.coverage, 0.95);
}

TEST(FewestValues, are_six_for_95_percent_and_eight_for_99) {
  EXPECT_EQ(fewest_values(0.95), 6);
  EXPECT_EQ(fewest_values(0.99), 8);
  EXPECT_EQ(fewest_values(0.5), 2);
}

TEST(SignTest, sums_the_upper_tail_of_the_binomial_distribution) {
  EXPECT_NEAR(sign_test(20, 20), 1.0 / 1048576, 1e-12);
  EXPECT_NEAR(sign_test(17, 20), 1351.0 / 1048576, 1e-9) << "1 + 20 + 190 + 1140";
  EXPECT_NEAR(sign_test(0, 20), 1, 1e-9);
}

TEST(Holm, refuses_in_order_of_p_and_stops_at_the_first_that_is_too_large) {
  // The steps of alpha = 0.05 for four: 0.0125, 0.0167, 0.025, 0.05.
  EXPECT_EQ(holm(std::vector<double>{0.02, 0.001, 0.03, 0.016}, 0.05),
            (std::vector<bool>{true, true, true, true}));
  EXPECT_EQ(holm(std::vector<double>{0.02, 0.001, 0.03, 0.018}, 0.05),
            (std::vector<bool>{false, true, false, false}));
  EXPECT_TRUE(holm({}, 0.05).empty());
}

TEST(Quantile, interpolates_between_order_statistics) {
  const std::vector<double> values{40, 10, 30, 20};
  EXPECT_EQ(quantile(values, 0), 10);
  EXPECT_EQ(quantile(values, 1), 40);
  EXPECT_EQ(quantile(values, 0.25), 17.5);
  EXPECT_EQ(quantile(values, 0.5), 25);
  EXPECT_THROW((void)quantile(values, 1.5), InternalError);
}

TEST(FewestRounds, are_those_of_the_interval_of_a_median) {
  EXPECT_EQ(kFewestRounds, fewest_values(kIntervalLevel));
}

}  // namespace
}  // namespace attnbench
