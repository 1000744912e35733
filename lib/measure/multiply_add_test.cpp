// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/multiply_add.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnbench {
namespace {

TEST(MultiplyAdds, exist_for_every_instruction_set_of_this_processor) {
  for (const CpuTarget target : cpu_targets()) {
    EXPECT_FALSE(multiply_adds(target).empty()) << to_string(target);
    for (const MultiplyAdd& each : multiply_adds(target)) {
      EXPECT_GE(each.flop_per_step, 2 * 10 * 4) << to_string(target);
      EXPECT_TRUE(std::isfinite(each.run(1 << 20))) << to_string(target);
      EXPECT_NE(each.run(3), each.run(4)) << "the result depends on the steps";
    }
  }
}

TEST(MultiplyAdds, end_at_the_fixed_point_of_their_chains) {
  const MultiplyAdd f32 = multiply_adds(best_cpu_target()).front();
  const auto chain_lanes = static_cast<float>(f32.flop_per_step / 2);
  EXPECT_NEAR(f32.run(1 << 16) / chain_lanes, 1.0f, 1e-3f);
}

}  // namespace
}  // namespace attnbench
