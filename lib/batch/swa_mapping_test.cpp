// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/swa_mapping.h"

#include <gtest/gtest.h>

#include "lib/base/error.h"

namespace attnbench {
namespace {

TEST(FullToSwaMapping, translates_slots_and_keeps_minus_one) {
  FullToSwaMapping mapping(6, 1);
  mapping.map(1, 3);
  mapping.map(2, 1);
  mapping.map(5, 2);
  EXPECT_EQ(mapping.translate(1), 3);
  EXPECT_EQ(mapping.translate(2), 1);
  EXPECT_EQ(mapping.translate(5), 2);
  EXPECT_EQ(mapping.translate(4), 0);
  EXPECT_EQ(mapping.translate(-1), -1);
  EXPECT_EQ(mapping.table().size(), 8u);
  EXPECT_EQ(mapping.table().back(), -1);
}

TEST(FullToSwaMapping, refuses_slots_outside_the_pool) {
  FullToSwaMapping mapping(6, 1);
  EXPECT_THROW(mapping.map(7, 1), InternalError);
  EXPECT_THROW(mapping.map(0, 1), InternalError);
  EXPECT_THROW(mapping.map(1, -1), InternalError);
  EXPECT_THROW(static_cast<void>(mapping.translate(7)), InternalError);
  EXPECT_THROW(static_cast<void>(mapping.translate(-2)), InternalError);
}

}  // namespace
}  // namespace attnbench
