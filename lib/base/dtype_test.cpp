// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/dtype.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnbench {
namespace {

TEST(DType, names_round_trip) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kE4M3, DType::kE5M2}) {
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
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kE4M3, DType::kE5M2}) {
    EXPECT_TRUE(std::isnan(rounded(dtype, NAN))) << to_string(dtype);
  }
}

}  // namespace
}  // namespace attnbench
