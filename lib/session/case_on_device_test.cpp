// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/case_on_device.h"

#include <gtest/gtest.h>

namespace attnbench {
namespace {

TEST(CaseOnDevice, keeps_sets_for_placements_that_take_a_small_part_of_what_processes_share) {
  EXPECT_TRUE(may_keep_sets(10, 160, 1));
  EXPECT_FALSE(may_keep_sets(11, 160, 1));
  EXPECT_TRUE(may_keep_sets(10, 160, 4)) << "a quarter in all";
  EXPECT_FALSE(may_keep_sets(10, 160, 5));
  EXPECT_TRUE(may_keep_sets(8, 160, 5));
}

}  // namespace
}  // namespace attnbench
