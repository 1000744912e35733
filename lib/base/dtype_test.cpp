// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace attnbench {
namespace {

constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kE4M3, DType::kE5M2};

TEST(DType, names_round_trip) {
  for (const DType dtype : kTypes) {
    EXPECT_EQ(dtype_from_string(to_string(dtype)), dtype);
  }
  EXPECT_EQ(dtype_from_string("fp8"), std::nullopt);
}

TEST(DType, every_f16_pattern_survives_a_round_trip) {
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const float value = f16_value(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(f16_bits(value), bits);
  }
}

TEST(DType, every_fp8_pattern_survives_a_round_trip) {
  for (std::uint32_t bits = 0; bits < 0x100u; ++bits) {
    const auto pattern = static_cast<std::uint8_t>(bits);
    if (std::isfinite(e4m3_value(pattern))) {
      ASSERT_EQ(e4m3_bits(e4m3_value(pattern)), bits);
    }
    if (std::isfinite(e5m2_value(pattern))) {
      ASSERT_EQ(e5m2_bits(e5m2_value(pattern)), bits);
    }
  }
}

// K = 3.3 with k_scale 0.5 is stored as 6.5 and read as 3.25.
TEST(DType, e4m3_rounds_on_its_grid) {
  EXPECT_EQ(rounded(DType::kE4M3, 3.3f / 0.5f), 6.5f);
  EXPECT_EQ(rounded(DType::kE4M3, 0x1p-10f), 0.0f);       // half of the smallest: tie to even
  EXPECT_EQ(rounded(DType::kE4M3, 0x1.8p-10f), 0x1p-9f);  // smallest subnormal
}

TEST(DType, fp8_saturates_instead_of_overflowing) {
  EXPECT_EQ(rounded(DType::kE4M3, 1000.0f), 448.0f);
  EXPECT_EQ(rounded(DType::kE4M3, -INFINITY), -448.0f);
  EXPECT_EQ(rounded(DType::kE5M2, 1e6f), 57344.0f);
}

TEST(DType, ties_go_to_even) {
  EXPECT_EQ(rounded(DType::kBF16, 1.0f + 0x1p-8f), 1.0f);
  EXPECT_EQ(rounded(DType::kBF16, 1.0f + 3 * 0x1p-8f), 1.0f + 0x1p-6f);
  EXPECT_EQ(rounded(DType::kF16, 1.0f + 0x1p-11f), 1.0f);
  EXPECT_EQ(rounded(DType::kF16, 65520.0f), INFINITY);
}

TEST(DType, nan_stays_nan) {
  const float lowest_bit = std::bit_cast<float>(0x7f800001u);
  for (const DType dtype : kTypes) {
    EXPECT_TRUE(std::isnan(rounded(dtype, NAN))) << to_string(dtype);
    EXPECT_TRUE(std::isnan(rounded(dtype, lowest_bit))) << to_string(dtype);
  }
}

TEST(DType, has_its_largest_number_and_nothing_finite_beyond) {
  for (const DType dtype : kTypes) {
    const float largest = largest_finite(dtype);
    const std::uint32_t bits = storage_bits(dtype, largest);
    EXPECT_EQ(stored_value(dtype, bits), largest) << to_string(dtype);
    EXPECT_FALSE(std::isfinite(stored_value(dtype, bits + 1))) << to_string(dtype);
  }
  EXPECT_EQ(e5m2_value(0x7c), INFINITY);
  EXPECT_TRUE(std::isnan(e5m2_value(0x7d)));
  EXPECT_TRUE(std::isnan(e4m3_value(0x7f)));
}

TEST(DType, rounds_by_half_a_step_at_the_most) {
  for (const DType dtype : kTypes) {
    if (dtype == DType::kF32) continue;
    const auto half = static_cast<float>(unit_roundoff(dtype));
    EXPECT_EQ(rounded(dtype, 1 + half), 1) << to_string(dtype);
    EXPECT_EQ(rounded(dtype, 1 + 1.5f * half), 1 + 2 * half) << to_string(dtype);
  }
}

}  // namespace
}  // namespace attnbench
