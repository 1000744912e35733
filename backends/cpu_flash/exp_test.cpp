// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "backends/common/vector_targets.h"

// Compiled once for each instruction set, as flash_kernels.cpp is.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu_flash/exp_test.cpp"
#include <hwy/foreach_target.h>
// After the instruction set is chosen.
#include "backends/cpu_flash/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnbench::cpu_flash::HWY_NAMESPACE {

enum class Function : std::uint8_t { kExp, kExp2, kTanh };

/// The function in the last lane of a vector that holds x everywhere.
inline float in_last_lane(Function function, float x) {
  const Floats v = splat(x);
  const Floats y = function == Function::kExp    ? exp_floats(v)
                   : function == Function::kExp2 ? exp2_floats(v)
                                                 : tanh_floats(v);
  float lanes[kLanes];
  store_floats(lanes, y);
  return lanes[kLanes - 1];
}

inline float exp_of(float x) { return in_last_lane(Function::kExp, x); }
inline float exp2_of(float x) { return in_last_lane(Function::kExp2, x); }
inline float tanh_of(float x) { return in_last_lane(Function::kTanh, x); }

}  // namespace attnbench::cpu_flash::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "lib/device/cpu/cpu_info.h"

namespace attnbench::cpu_flash {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// The functions of one instruction set.
struct Functions {
  float (*exp)(float);
  float (*exp2)(float);
  float (*tanh)(float);
};

Functions functions_of(CpuTarget target) {
  switch (target) {
#if HWY_TARGETS & HWY_AVX2
    case CpuTarget::kAvx2:
      return {N_AVX2::exp_of, N_AVX2::exp2_of, N_AVX2::tanh_of};
#endif
#if HWY_TARGETS & HWY_AVX3
    case CpuTarget::kAvx512:
    case CpuTarget::kAvx512Bf16:
      return {N_AVX3::exp_of, N_AVX3::exp2_of, N_AVX3::tanh_of};
#endif
#if HWY_TARGETS & HWY_NEON
    case CpuTarget::kNeon:
      return {N_NEON::exp_of, N_NEON::exp2_of, N_NEON::tanh_of};
#endif
    default:
      return {};
  }
}

/// Each test once for each instruction set that this processor has.
class Exp : public testing::TestWithParam<CpuTarget> {
 protected:
  Functions f_ = functions_of(GetParam());
};

INSTANTIATE_TEST_SUITE_P(EachTarget, Exp, testing::ValuesIn(cpu_targets()),
                         [](const auto& each) { return std::string(to_string(each.param)); });

/// Distance from the exact value in units of its last place.
double ulps(float got, double want) {
  int exponent = 0;
  std::frexp(want, &exponent);
  return std::abs(static_cast<double>(got) - want) / std::ldexp(1.0, exponent - 24);
}

TEST_P(Exp, is_within_two_ulp_wherever_the_result_is_normal) {
  double worst = 0;
  for (float x = -87.33f; x < 88; x += 0.00137f) {
    worst = std::max(worst, ulps(f_.exp(x), std::exp(static_cast<double>(x))));
  }
  EXPECT_LT(worst, 2);
}

TEST_P(Exp, gives_exactly_nothing_for_a_hidden_key_and_keeps_nan) {
  EXPECT_EQ(f_.exp(-kInfinity), 0.0f);
  EXPECT_EQ(f_.exp(-1e30f), 0.0f);
  EXPECT_EQ(f_.exp(-88), 0.0f);
  EXPECT_EQ(f_.exp(0), 1.0f);
  EXPECT_TRUE(std::isnan(f_.exp(kNan)));
}

TEST_P(Exp, of_two_is_within_two_ulp_wherever_the_result_is_normal) {
  double worst = 0;
  for (float x = -126; x < 127; x += 0.00137f) {
    worst = std::max(worst, ulps(f_.exp2(x), std::exp2(static_cast<double>(x))));
  }
  EXPECT_LT(worst, 2);
}

TEST_P(Exp, of_two_gives_exactly_nothing_for_a_hidden_key_and_keeps_nan) {
  EXPECT_EQ(f_.exp2(-kInfinity), 0.0f);
  EXPECT_EQ(f_.exp2(-1e30f), 0.0f);
  EXPECT_EQ(f_.exp2(-127), 0.0f);
  EXPECT_EQ(f_.exp2(0), 1.0f);
  EXPECT_TRUE(std::isnan(f_.exp2(kNan)));
}

TEST_P(Exp, makes_a_tanh_within_four_ulp) {
  double worst = 0;
  for (float x = -12; x < 12; x += 0.00037f) {
    worst = std::max(worst, ulps(f_.tanh(x), std::tanh(static_cast<double>(x))));
  }
  EXPECT_LT(worst, 4);
  EXPECT_EQ(f_.tanh(500), 1.0f);
  EXPECT_EQ(f_.tanh(-500), -1.0f);
  EXPECT_TRUE(std::isnan(f_.tanh(kNan)));
}

}  // namespace
}  // namespace attnbench::cpu_flash
#endif
