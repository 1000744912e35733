// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu_flash/exp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace attnbench {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Distance from the exact value in units of its last place.
double ulps(float got, double want) {
  int exponent = 0;
  std::frexp(want, &exponent);
  return std::abs(static_cast<double>(got) - want) / std::ldexp(1.0, exponent - 24);
}

TEST(Exp8, is_within_two_ulp_wherever_the_result_is_normal) {
  double worst = 0;
  for (float x = -87.33f; x < 88; x += 0.00137f) {
    worst = std::max(worst, ulps(exp8(simd::splat(x))[3], std::exp(static_cast<double>(x))));
  }
  EXPECT_LT(worst, 2);
}

TEST(Exp8, gives_exactly_nothing_for_a_hidden_key) {
  EXPECT_EQ(exp8(simd::splat(-kInfinity))[0], 0.0f);
  EXPECT_EQ(exp8(simd::splat(-1e30f))[0], 0.0f);
  EXPECT_EQ(exp8(simd::splat(-88))[0], 0.0f);
  EXPECT_EQ(exp8(simd::splat(0))[0], 1.0f);
}

TEST(Exp8, keeps_nan) {
  EXPECT_TRUE(std::isnan(exp8(simd::splat(std::numeric_limits<float>::quiet_NaN()))[0]));
}

TEST(Exp2, is_within_two_ulp_wherever_the_result_is_normal) {
  double worst = 0;
  for (float x = -126; x < 127; x += 0.00137f) {
    worst = std::max(worst, ulps(exp2_8(simd::splat(x))[6], std::exp2(static_cast<double>(x))));
  }
  EXPECT_LT(worst, 2);
}

TEST(Exp2, gives_exactly_nothing_for_a_hidden_key_and_keeps_nan) {
  EXPECT_EQ(exp2_8(simd::splat(-kInfinity))[0], 0.0f);
  EXPECT_EQ(exp2_8(simd::splat(-1e30f))[0], 0.0f);
  EXPECT_EQ(exp2_8(simd::splat(-127))[0], 0.0f);
  EXPECT_EQ(exp2_8(simd::splat(0))[0], 1.0f);
  EXPECT_TRUE(std::isnan(exp2_8(simd::splat(std::numeric_limits<float>::quiet_NaN()))[0]));
}

TEST(Tanh8, is_within_four_ulp) {
  double worst = 0;
  for (float x = -12; x < 12; x += 0.00037f) {
    worst = std::max(worst, ulps(tanh8(simd::splat(x))[5], std::tanh(static_cast<double>(x))));
  }
  EXPECT_LT(worst, 4);
  EXPECT_EQ(tanh8(simd::splat(500))[0], 1.0f);
  EXPECT_EQ(tanh8(simd::splat(-500))[0], -1.0f);
}

}  // namespace
}  // namespace attnbench
