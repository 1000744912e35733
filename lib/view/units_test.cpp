// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/view/units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace attnbench {
namespace {

using Pair = std::pair<std::string, std::string>;

TEST(ToldApart, prints_as_many_digits_as_it_takes_to_differ) {
  EXPECT_EQ(told_apart(0.5, 0.25), Pair("0.5", "0.25"));
  EXPECT_EQ(told_apart(11.61, 11.6102), Pair("11.61", "11.6102"));
  EXPECT_EQ(told_apart(11.611, 11.6099), Pair("11.611", "11.61"));
  EXPECT_EQ(told_apart(1, std::nextafter(1.0, 2.0)), Pair("1", "1.0000000000000002"));
  EXPECT_EQ(told_apart(1.0 / 3, 1.0 / 3), Pair("0.3333", "0.3333"));
  EXPECT_EQ(told_apart(std::numeric_limits<double>::quiet_NaN(), 12.3456), Pair("nan", "12.35"));
}

}  // namespace
}  // namespace attnbench
