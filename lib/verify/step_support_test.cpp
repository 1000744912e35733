// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/step_support.h"

#include <gtest/gtest.h>

#include <string>

namespace attnbench {
namespace {

BackendInfo cache_writer() {
  BackendInfo info;
  info.writes_kv = true;
  return info;
}

Case part(StepPart step) {
  Case c;
  c.step = step;
  return c;
}

TEST(StepSupport, asks_every_backend_for_attention) {
  EXPECT_TRUE(bool(supports_step({}, part(StepPart::kAttention))));
}

TEST(StepSupport, asks_for_writes_only_where_a_backend_says_that_it_writes) {
  for (const StepPart step : {StepPart::kKvWrite, StepPart::kBoth}) {
    EXPECT_TRUE(bool(supports_step(cache_writer(), part(step))));
    EXPECT_EQ(supports_step({}, part(step)).reason(), "it writes no KV cache: attention alone");
  }
}

TEST(StepSupport, asks_for_no_writes_of_what_is_not_exact) {
  Case c = part(StepPart::kKvWrite);
  c.kv_cache.dtype = DType::kF32;
  EXPECT_FALSE(bool(supports_step(cache_writer(), c)));
  c.kv_cache.dtype = DType::kF16;
  EXPECT_FALSE(bool(supports_step(cache_writer(), c))) << "as wide as bf16, but finer";
  c.kv_cache.dtype = DType::kE4M3;
  c.kv_cache.k_scale = 0.37f;
  EXPECT_TRUE(bool(supports_step(cache_writer(), c)));
  c.kv_cache.dtype = DType::kBF16;
  EXPECT_FALSE(bool(supports_step(cache_writer(), c))) << "quotients by 0.37 are rounded";
  Case cross = part(StepPart::kBoth);
  cross.layer.is_cross_attention = true;
  EXPECT_FALSE(bool(supports_step(cache_writer(), cross)));
}

TEST(StepSupport, asks_for_no_writes_into_packed_rows_or_through_scales_of_their_own) {
  Case c = part(StepPart::kKvWrite);
  c.kv_cache.layout = KvLayout::kXPacked;
  EXPECT_NE(supports_step(cache_writer(), c).reason().find("x_packed"), std::string::npos);
  c.kv_cache.layout = KvLayout::kCombined;
  EXPECT_TRUE(bool(supports_step(cache_writer(), c)));
  c.kv_cache.dtype = DType::kE4M3;
  c.kv_cache.scales = KvScales::kToken;
  EXPECT_NE(supports_step(cache_writer(), c).reason().find("per token"), std::string::npos);
}

}  // namespace
}  // namespace attnbench
