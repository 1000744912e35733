// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/kv_convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace attnbench {
namespace {

TEST(KvConvert, widens_every_bit_pattern_as_the_scalar_conversion_does) {
  for (const DType dtype : {DType::kE4M3, DType::kE5M2, DType::kF16, DType::kBF16}) {
    const std::int64_t patterns = size_bytes(dtype) == 1 ? 256 : 65536;
    std::vector<std::byte> stored;
    for (std::int64_t bits = 0; bits < patterns; ++bits) {
      stored.push_back(static_cast<std::byte>(bits & 0xff));
      if (size_bytes(dtype) == 2) stored.push_back(static_cast<std::byte>(bits >> 8));
    }
    std::vector<float> widened(static_cast<std::size_t>(patterns));
    widen_row(dtype, stored.data(), widened.data(), patterns);
    for (std::int64_t i = 0; i < patterns; ++i) {
      const float want = load(dtype, stored.data() + i * size_bytes(dtype));
      const float got = widened[static_cast<std::size_t>(i)];
      ASSERT_TRUE(std::isnan(want) ? std::isnan(got) : got == want)
          << to_string(dtype) << " bits " << i << ": " << got << ", not " << want;
    }
  }
}

TEST(KvConvert, reads_no_further_than_the_row) {
  std::vector<std::byte> stored(11 * 2, std::byte{0x3f});
  std::vector<float> widened(12, -1.0f);
  widen_row(DType::kBF16, stored.data(), widened.data(), 11);
  EXPECT_EQ(widened[10], bf16_value(0x3f3f));
  EXPECT_EQ(widened[11], -1.0f);
}

}  // namespace
}  // namespace attnbench
