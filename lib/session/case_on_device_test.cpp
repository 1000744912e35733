// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/case_on_device.h"

#include <gtest/gtest.h>

namespace attnbench {
namespace {

TEST(CaseOnDevice, keeps_further_sets_that_take_a_small_part_of_what_processes_share) {
  EXPECT_EQ(most_kept_bytes(160, 1), 10);
  EXPECT_EQ(most_kept_bytes(160, 4), 10) << "a quarter in all";
  EXPECT_EQ(most_kept_bytes(160, 5), 8);
}

}  // namespace
}  // namespace attnbench
