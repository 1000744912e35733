// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/kv_convert.h"

#include "backends/common/vector_targets.h"

// Compiled once for each instruction set, as vector-inl.h says.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/common/kv_convert_test.cpp"
#include <hwy/foreach_target.h>
// After the instruction set is chosen.
#include "backends/common/kv_convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnbench::HWY_NAMESPACE {

/// n bf16 numbers through WidenPair, stored in the order in which they came.
inline void widen_pairs(const std::byte* from, float* to, std::int64_t n) {
  for (std::int64_t i = 0; i + 2 * kLanes <= n; i += 2 * kLanes) {
    Floats a, b;
    WidenPair<DType::kBF16>::load(from + i * 2, a, b);
    WidenPair<DType::kBF16>::store_floats(to + i, a, b);
  }
}

}  // namespace attnbench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "lib/device/cpu/cpu_info.h"

namespace attnbench {
namespace {

struct Conversions {
  void (*widen_row)(DType, const std::byte*, float*, std::int64_t);
  void (*widen_pairs)(const std::byte*, float*, std::int64_t);
};

Conversions conversions_of(CpuTarget target) {
  switch (target) {
#if HWY_TARGETS & HWY_AVX2
    case CpuTarget::kAvx2:
      return {N_AVX2::widen_row, N_AVX2::widen_pairs};
#endif
#if HWY_TARGETS & HWY_AVX3
    case CpuTarget::kAvx512:
    case CpuTarget::kAvx512Bf16:
      return {N_AVX3::widen_row, N_AVX3::widen_pairs};
#endif
#if HWY_TARGETS & HWY_NEON
    case CpuTarget::kNeon:
      return {N_NEON::widen_row, N_NEON::widen_pairs};
#endif
    default:
      return {};
  }
}

class KvConvert : public testing::TestWithParam<CpuTarget> {
 protected:
  Conversions convert_ = conversions_of(GetParam());
};

INSTANTIATE_TEST_SUITE_P(EachTarget, KvConvert, testing::ValuesIn(cpu_targets()),
                         [](const auto& each) { return std::string(to_string(each.param)); });

std::vector<std::byte> every_bit_pattern(DType dtype) {
  const std::int64_t patterns = size_bytes(dtype) == 1 ? 256 : 65536;
  std::vector<std::byte> stored;
  for (std::int64_t bits = 0; bits < patterns; ++bits) {
    stored.push_back(static_cast<std::byte>(bits & 0xff));
    if (size_bytes(dtype) == 2) stored.push_back(static_cast<std::byte>(bits >> 8));
  }
  return stored;
}

void expect_scalar_conversion(DType dtype, const std::vector<std::byte>& stored,
                              const std::vector<float>& widened) {
  for (std::size_t i = 0; i < widened.size(); ++i) {
    const float want = load(dtype, stored.data() + i * static_cast<std::size_t>(size_bytes(dtype)));
    ASSERT_TRUE(std::isnan(want) ? std::isnan(widened[i]) : widened[i] == want)
        << to_string(dtype) << " bits " << i << ": " << widened[i] << ", not " << want;
  }
}

TEST_P(KvConvert, widens_every_bit_pattern_as_the_scalar_conversion_does) {
  for (const DType dtype : {DType::kE4M3, DType::kE5M2, DType::kF16, DType::kBF16}) {
    const std::vector<std::byte> stored = every_bit_pattern(dtype);
    std::vector<float> widened(stored.size() / static_cast<std::size_t>(size_bytes(dtype)));
    convert_.widen_row(dtype, stored.data(), widened.data(), std::ssize(widened));
    expect_scalar_conversion(dtype, stored, widened);
  }
}

TEST_P(KvConvert, a_pair_of_vectors_is_stored_in_the_order_in_which_it_came) {
  const std::vector<std::byte> stored = every_bit_pattern(DType::kBF16);
  std::vector<float> widened(stored.size() / 2);
  convert_.widen_pairs(stored.data(), widened.data(), std::ssize(widened));
  expect_scalar_conversion(DType::kBF16, stored, widened);
}

TEST_P(KvConvert, reads_no_further_than_the_row) {
  std::vector<std::byte> stored(11 * 2, std::byte{0x3f});
  std::vector<float> widened(12, -1.0f);
  convert_.widen_row(DType::kBF16, stored.data(), widened.data(), 11);
  EXPECT_EQ(widened[10], bf16_value(0x3f3f));
  EXPECT_EQ(widened[11], -1.0f);
}

TEST(KvConvertAnywhere, widens_with_what_every_processor_has) {
  const std::vector<std::byte> stored = every_bit_pattern(DType::kF16);
  std::vector<float> widened(stored.size() / 2);
  widen_row(DType::kF16, stored.data(), widened.data(), std::ssize(widened));
  expect_scalar_conversion(DType::kF16, stored, widened);
}

}  // namespace
}  // namespace attnbench
#endif
