// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/length_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lib/base/error.h"

namespace attnbench {
namespace {

constexpr std::int64_t kMany = 20000;

std::vector<std::int64_t> sorted_draws(const LengthDistribution& distribution) {
  std::vector<std::int64_t> lengths = draw_lengths(distribution, kMany, 7);
  std::ranges::sort(lengths);
  return lengths;
}

double share_of(const std::vector<std::int64_t>& lengths, std::int64_t value) {
  return static_cast<double>(std::ranges::count(lengths, value)) /
         static_cast<double>(lengths.size());
}

// Golden draws, from a second implementation in Python: a change here changes the lengths, and so
// the results, of every scenario.
TEST(LengthDistribution, draws_the_same_lengths_on_every_machine) {
  const auto golden = [](const LengthDistribution& d) { return draw_lengths(d, 4, 7); };
  using Lengths = std::vector<std::int64_t>;
  EXPECT_EQ(golden({Uniform{500, 4096}}), (Lengths{3057, 3510, 3524, 1080}));
  EXPECT_EQ(golden({Lognormal{1200, 0.9}}), (Lengths{4451, 450, 901, 1635}));
  EXPECT_EQ(golden({Zipf{1.2, 10000}}), (Lengths{95, 442, 468, 2}));
  EXPECT_EQ(golden({Quantiles{"azure-conv-2023", ""}}), (Lengths{1143, 1731, 1775, 375}));
}

TEST(LengthDistribution, longer_series_begin_like_shorter_ones) {
  const LengthDistribution d{Lognormal{1000, 1}};
  const auto shorter = draw_lengths(d, 3, 1), longer = draw_lengths(d, 9, 1);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
  EXPECT_NE(draw_lengths(d, 3, 2), shorter);
}

TEST(LengthDistribution, uniform_meets_both_ends_alike) {
  const auto lengths = sorted_draws({Uniform{3, 6}});
  for (std::int64_t value = 3; value <= 6; ++value)
    EXPECT_NEAR(share_of(lengths, value), 0.25, 0.01);
}

TEST(LengthDistribution, lognormal_has_the_median_and_spread_asked_for) {
  const auto lengths = sorted_draws({Lognormal{1200, 0.9}});
  EXPECT_NEAR(static_cast<double>(lengths[kMany / 2]), 1200, 30);
  const double upper = static_cast<double>(lengths[static_cast<std::size_t>(0.8413 * kMany)]);
  EXPECT_NEAR(std::log(upper / 1200), 0.9, 0.03);
}

TEST(LengthDistribution, zipf_falls_off_as_its_exponent_says) {
  const auto lengths = sorted_draws({Zipf{2, 1000}});
  // Integral of x^-2 over [k, k+1) on [1, 1001): (1/k - 1/(k+1)) / (1 - 1/1001).
  EXPECT_NEAR(share_of(lengths, 1), 0.5005, 0.01);
  EXPECT_NEAR(share_of(lengths, 2), 0.1668, 0.01);
  EXPECT_LE(lengths.back(), 1000);
  EXPECT_NEAR(share_of(sorted_draws({Zipf{1, 7}}), 1), std::log(2) / std::log(8), 0.01);
}

TEST(LengthDistribution, bimodal_keeps_its_share) {
  const auto lengths = sorted_draws({Bimodal{100, 9000, 0.2}});
  EXPECT_NEAR(share_of(lengths, 9000), 0.2, 0.01);
  EXPECT_NEAR(share_of(lengths, 100), 0.8, 0.01);
}

TEST(LengthDistribution, moves_what_lies_outside_to_the_border) {
  const auto lengths = sorted_draws({Lognormal{1000, 2}, 500, 2000});
  EXPECT_EQ(lengths.front(), 500);
  EXPECT_EQ(lengths.back(), 2000);
}

// Figures of the trace itself: median 1020, 90 % 2735, longest 14050 context tokens.
TEST(LengthDistribution, the_azure_table_keeps_the_trace_s_quantiles) {
  const QuantileTable& context = quantile_table("azure-conv-2023", "context_tokens");
  EXPECT_EQ(context.value_at(0.5), 1020);
  EXPECT_EQ(context.value_at(0.9), 2735);
  EXPECT_EQ(context.value_at(0.99), 4142);
  EXPECT_EQ(context.value_at(1), 14050);
  EXPECT_EQ(context.value_at(0), 2);
  EXPECT_EQ(quantile_table("azure-conv-2023", "generated_tokens").value_at(0.5), 129);
  const auto lengths = sorted_draws({Quantiles{"azure-conv-2023", ""}});
  EXPECT_NEAR(static_cast<double>(lengths[kMany / 2]), 1020, 30);
}

TEST(QuantileTable, interpolates_between_rows) {
  const QuantileTable table{{0, 0.5, 1}, {10, 20, 40}};
  EXPECT_EQ(table.value_at(0), 10);
  EXPECT_EQ(table.value_at(0.25), 15);
  EXPECT_EQ(table.value_at(0.75), 30);
  EXPECT_EQ(table.value_at(1), 40);
}

TEST(QuantileTable, refuses_names_it_does_not_know) {
  EXPECT_THROW((void)quantile_table("azure-code", ""), ConfigError);
  EXPECT_THROW((void)quantile_table("azure-conv-2023", "TTFT"), ConfigError);
}

}  // namespace
}  // namespace attnbench
