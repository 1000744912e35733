// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/narrow.h"

#include <gtest/gtest.h>

namespace attnbench {
namespace {

TEST(NarrowI32, keeps_what_fits_and_refuses_the_rest) {
  EXPECT_EQ(narrow_i32(2147483647), 2147483647);
  EXPECT_EQ(narrow_i32(-2147483648LL), -2147483647 - 1);
  EXPECT_THROW(static_cast<void>(narrow_i32(2147483648LL)), InternalError);
  EXPECT_THROW(static_cast<void>(narrow_i32(-2147483649LL)), InternalError);
}

}  // namespace
}  // namespace attnbench
