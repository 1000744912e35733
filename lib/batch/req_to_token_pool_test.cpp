// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/req_to_token_pool.h"

#include <gtest/gtest.h>

#include "lib/base/error.h"

namespace attnbench {
namespace {

TEST(ReqToTokenPool, starts_with_invalid_slots_and_one_row_for_padding) {
  ReqToTokenPool pool(2, 8);
  EXPECT_EQ(pool.rows(), 3);
  EXPECT_EQ(pool.row(2).size(), 8u);
  EXPECT_EQ(pool.row(0)[7], 0) << "padding may have a key, in slot 0";
  pool.row(1)[7] = 5;
  EXPECT_EQ(pool.row(1)[7], 5);
  EXPECT_EQ(pool.row(2)[0], kInvalidSlot);
  EXPECT_THROW(static_cast<void>(pool.row(3)), InternalError);
  EXPECT_THROW(static_cast<void>(pool.row(-1)), InternalError);
}

}  // namespace
}  // namespace attnbench
