// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/trend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kSeries = 500;

/// Logarithms of `before` runs at one level and `after` runs at `ratio` times it.
std::vector<double> series_of(std::mt19937_64& random, double noise, int before, int after,
                              double ratio = 1) {
  std::normal_distribution<double> deviation(0, noise);
  std::vector<double> values;
  for (int run = 0; run < before + after; ++run) {
    values.push_back((run < before ? 0 : std::log(ratio)) + deviation(random));
  }
  return values;
}

TEST(Trend, finds_no_change_in_series_of_noise) {
  std::mt19937_64 random(11);
  for (int i = 0; i < kSeries; ++i) {
    EXPECT_THAT(change_points(series_of(random, 0.01, 20, 0)), IsEmpty()) << "series " << i;
  }
}

TEST(Trend, finds_a_change_in_at_most_one_of_500_series_of_noise_however_long) {
  std::mt19937_64 random(17);
  for (const int runs : {10, 20, 40}) {
    int changed = 0;
    for (int i = 0; i < 10 * kSeries; ++i) {
      changed += change_points(series_of(random, 0.01, runs, 0)).empty() ? 0 : 1;
    }
    EXPECT_LE(changed, 10) << runs << " runs";
  }
}

TEST(Trend, finds_steps_of_four_percent_in_one_percent_of_noise) {
  // A run beside the step lies nearer to the other level in one of 20 series, whatever the method:
  // its neighbour is as good a guess there.
  std::mt19937_64 random(12);
  int found = 0;
  for (int i = 0; i < kSeries; ++i) {
    const auto changes = change_points(series_of(random, 0.01, 10, 10, 1.04));
    found += changes.size() == 1 && changes[0] >= 9 && changes[0] <= 11 ? 1 : 0;
  }
  EXPECT_GT(found, 0.95 * kSeries);
}

TEST(Trend, finds_the_very_run_of_steps_of_four_percent_in_less_noise) {
  std::mt19937_64 random(13);
  int found = 0;
  for (int i = 0; i < kSeries; ++i) {
    const auto changes = change_points(series_of(random, 0.008, 10, 10, 1.04));
    found += changes == std::vector<std::size_t>{10} ? 1 : 0;
  }
  EXPECT_GT(found, 0.95 * kSeries);
}

TEST(Trend, finds_several_levels) {
  std::mt19937_64 random(14);
  std::vector<double> values;
  for (const double level : {0.0, 0.10, 0.02}) {
    for (const double value : series_of(random, 0.004, 10, 0)) values.push_back(level + value);
  }
  EXPECT_THAT(change_points(values), ElementsAre(10, 20));
}

TEST(Trend, takes_outliers_for_no_change_and_finds_the_step_beside_them) {
  std::mt19937_64 random(15);
  std::vector<double> values = series_of(random, 0.005, 10, 10);
  for (const std::size_t at : {2u, 3u, 11u, 16u, 19u}) values[at] += 0.5;
  EXPECT_THAT(change_points(values), IsEmpty());
  for (std::size_t i = 10; i < 20; ++i) values[i] += 0.05;
  EXPECT_THAT(change_points(values), ElementsAre(10));
}

TEST(Trend, calls_nothing_a_change_below_two_percent_or_of_few_runs) {
  std::vector<double> values(20, 1.0);
  EXPECT_THAT(change_points(values), IsEmpty()) << "no noise at all";
  for (std::size_t i = 10; i < 20; ++i) values[i] = 1.0 + std::log(1.019);
  EXPECT_THAT(change_points(values), IsEmpty());
  for (std::size_t i = 10; i < 20; ++i) values[i] = 1.0 + std::log(1.021);
  EXPECT_THAT(change_points(values), ElementsAre(10));
  values.resize(14);
  EXPECT_THAT(change_points(values), IsEmpty()) << "four runs of the new level";
  EXPECT_THAT(change_points({}), IsEmpty());
}

TEST(Trend, tells_the_noise_of_a_run_from_neighbours_whatever_the_level) {
  std::mt19937_64 random(16);
  EXPECT_NEAR(noise_of(series_of(random, 0.01, 2000, 2000, 1.5)), 0.01, 0.0005);
  EXPECT_EQ(noise_of(std::vector<double>{3}), 0);
}

}  // namespace
}  // namespace attnbench
