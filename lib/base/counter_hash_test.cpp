// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/counter_hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace attnbench {
namespace {

// A function of its own: as a lambda, which is implicitly constexpr, g++ runs its loops while it
// compiles.
double correlation(std::uint64_t a, std::uint64_t b) {
  double sum = 0;
  for (std::uint32_t dim = 0; dim < 65536; ++dim) {
    sum +=
        static_cast<double>(normal_element(a, dim)) * static_cast<double>(normal_element(b, dim));
  }
  return sum / 65536;
}

// Golden bits, from a second implementation in Python integers: a change here changes every fixture
// hash and every stored result.
TEST(CounterHash, gives_the_same_bits_on_every_machine) {
  const std::uint64_t key = row_key(7, Role::kK, 3, 1000000007, 5);
  EXPECT_EQ(key, 0x7dd0d6084d3e0150u);
  EXPECT_EQ(element_bits(key, 0), 0xfcf30fd1u);
  EXPECT_EQ(element_bits(key, 127), 0xac1b1152u);
  EXPECT_EQ(normal_element(key, 5), 722.0f * (1.0f / 1182.41275f));
}

TEST(CounterHash, neighbouring_counters_differ_in_half_of_the_bits) {
  int flipped = 0;
  constexpr int kTrials = 4096;
  for (std::uint32_t i = 0; i < kTrials; ++i) {
    const std::uint64_t key = row_key(1, Role::kV, 0, i, 0);
    flipped += std::popcount(element_bits(key, i) ^ element_bits(key, i + 1));
    flipped +=
        std::popcount(element_bits(key, 0) ^ element_bits(row_key(1, Role::kV, 0, i + 1, 0), 0));
  }
  EXPECT_NEAR(flipped / (2.0 * kTrials), 16.0, 0.2);
}

TEST(CounterHash, normal_elements_have_mean_zero_and_variance_one) {
  double sum = 0, squares = 0, fourth = 0;
  constexpr int kRows = 2000, kDims = 128;
  for (int row = 0; row < kRows; ++row) {
    const std::uint64_t key = row_key(42, Role::kQ, 1, row, 0);
    for (std::uint32_t dim = 0; dim < kDims; ++dim) {
      const double x = static_cast<double>(normal_element(key, dim));
      sum += x;
      squares += x * x;
      fourth += x * x * x * x;
    }
  }
  constexpr double n = static_cast<double>(kRows) * kDims;
  EXPECT_NEAR(sum / n, 0.0, 0.01);
  EXPECT_NEAR(squares / n, 1.0, 0.01);
  EXPECT_NEAR(fourth / n, 2.7, 0.05);  // Irwin-Hall of four: kurtosis 3 - 6/(5*4)
}

TEST(CounterHash, rows_of_different_roles_streams_and_heads_are_uncorrelated) {
  const std::uint64_t base = row_key(7, Role::kK, 0, 10, 0);
  EXPECT_NEAR(correlation(base, row_key(7, Role::kV, 0, 10, 0)), 0, 0.02);
  EXPECT_NEAR(correlation(base, row_key(7, Role::kK, 1, 10, 0)), 0, 0.02);
  EXPECT_NEAR(correlation(base, row_key(7, Role::kK, 0, 11, 0)), 0, 0.02);
  EXPECT_NEAR(correlation(base, row_key(7, Role::kK, 0, 10, 1)), 0, 0.02);
  EXPECT_NEAR(correlation(base, row_key(8, Role::kK, 0, 10, 0)), 0, 0.02);
}

}  // namespace
}  // namespace attnbench
