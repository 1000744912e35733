// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/numerics.h"

#include <gtest/gtest.h>

#include <array>

namespace attnbench {
namespace {

TEST(DeclaredNumerics, take_no_sums_in_fp8) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    EXPECT_EQ(refusal_of({.accumulator = dtype}), "");
  }
  EXPECT_EQ(refusal_of({.accumulator = DType::kE4M3}),
            "accumulator is e4m3; f32, f16 and bf16 are allowed");
  EXPECT_EQ(refusal_of({.accumulator = DType::kE5M2}),
            "accumulator is e5m2; f32, f16 and bf16 are allowed");
}

TEST(DeclaredNumerics, take_partial_results_that_are_rounded_one_to_eight_times) {
  EXPECT_EQ(refusal_of({.partial_roundings = 1}), "");
  EXPECT_EQ(refusal_of({.partial_roundings = 8}), "");
  for (const int roundings : {-1, 0, 9, 1'000'000}) {
    EXPECT_NE(refusal_of({.partial_roundings = roundings}).find("1 to 8 are allowed"),
              std::string::npos)
        << roundings;
  }
}

TEST(DeclaredNumerics, of_several_parts_are_the_loosest_of_each_stage) {
  const std::array parts = {Numerics{.qk_input = DType::kF16, .p = DType::kE4M3, .lse = false},
                            Numerics{.qk_input = DType::kBF16, .partial_roundings = 3}};
  const Numerics all = loosest(parts);
  EXPECT_EQ(all.qk_input, DType::kBF16);
  EXPECT_EQ(all.p, DType::kE4M3);
  EXPECT_EQ(all.accumulator, DType::kF32);
  EXPECT_EQ(all.partial_roundings, 3);
  EXPECT_FALSE(all.lse);
}

TEST(DeclaredNumerics, name_each_stage_that_is_looser_than_a_type) {
  const Numerics declared{.qk_input = DType::kBF16, .p = DType::kE4M3, .accumulator = DType::kF16};
  EXPECT_EQ(looser_than(DType::kE4M3, declared), "");
  EXPECT_EQ(looser_than(DType::kBF16, declared), "weights in e4m3");
  EXPECT_EQ(looser_than(DType::kF16, declared), "operands of q.k in bf16, weights in e4m3");
  EXPECT_EQ(looser_than(DType::kF32, declared),
            "operands of q.k in bf16, weights in e4m3, sums in f16");
}

}  // namespace
}  // namespace attnbench
