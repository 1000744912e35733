// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/planned_run.h"

#include <gtest/gtest.h>

#include "lib/base/error.h"

namespace attnbench {
namespace {

TEST(ShardOfCases, takes_each_place_once) {
  for (std::size_t place = 0; place < 20; ++place) {
    int holders = 0;
    for (const char* text : {"1/3", "2/3", "3/3"}) holders += Shard::parse(text).holds(place);
    EXPECT_EQ(holders, 1) << place;
  }
  EXPECT_TRUE(Shard::parse("1/1").holds(7));
}

TEST(ShardOfCases, is_a_part_of_at_least_one) {
  for (const char* text : {"", "1", "0/2", "3/2", "1/0", "-1/2", "1/2x", "a/b", "1 / 2"}) {
    EXPECT_THROW(static_cast<void>(Shard::parse(text)), ConfigError) << text;
  }
}

}  // namespace
}  // namespace attnbench
