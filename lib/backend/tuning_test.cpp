// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/tuning.h"

#include <gtest/gtest.h>

namespace attnbench {
namespace {

TEST(TunedName, is_a_base_a_parameter_and_a_value) {
  const auto name = tuned_name("sglang:triton_decode:splits=32");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->base, "sglang:triton_decode");
  EXPECT_EQ(name->parameter, "splits");
  EXPECT_EQ(name->value, "32");
  for (const char* other : {"splitkv", "splitkv:dynamic", "splits=4", "a=1:b", "a:splits=1+b"}) {
    EXPECT_FALSE(tuned_name(other)) << other;
  }
}

TEST(Tuned, is_a_variant_that_says_how_an_engine_is_told) {
  BackendInfo base;
  base.name = "kernel";
  const BackendInfo info = tuned(base, "splits", 8, "--splits");
  EXPECT_EQ(info.name, "kernel:splits=8");
  EXPECT_FALSE(info.by_default);
  EXPECT_EQ(info.engine_flag, "--splits 8");
  EXPECT_EQ(tuned(base, "splits", 8).engine_flag, "");
}

}  // namespace
}  // namespace attnbench
