// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/packed_column.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "lib/page/testing/unpacked_column.h"

namespace attnbench {
namespace {

TEST(PackedColumn, a_value_that_stays_is_written_once) {
  const Json packed = packed_column(std::vector<Json>(1000, "passed"));
  EXPECT_EQ(packed.dump(), R"({"values":["passed"],"at":"A","lengths":[1000]})");
  EXPECT_EQ(unpacked_column(packed), std::vector<Json>(1000, "passed"));
}

TEST(PackedColumn, values_that_take_turns_cost_a_digit_each) {
  std::vector<Json> values;
  for (int i = 0; i < 1000; ++i) values.emplace_back(i % 2 == 0 ? "splitkv" : "paged_fa");
  const Json packed = packed_column(values);
  EXPECT_EQ(packed["at"].get<std::string>().size(), 1000u);
  EXPECT_EQ(unpacked_column(packed), values);
}

TEST(PackedColumn, more_than_64_values_take_two_digits) {
  for (const int count : {64, 65, 4096, 4097}) {
    std::vector<Json> values;
    for (int i = 0; i < count; ++i) values.emplace_back("case " + std::to_string(i));
    EXPECT_EQ(unpacked_column(packed_column(values)), values) << count;
  }
}

TEST(PackedColumn, figures_keep_five_digits) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponent(-88, 96);
  std::vector<Json> values = {nullptr, 0.0, 1.0, 99999.4, 99999.6, 1e-89, 9.9999e96};
  for (int i = 0; i < 2000; ++i) values.emplace_back(std::pow(10, exponent(random)));
  const Json packed = packed_column(values);
  ASSERT_TRUE(packed.contains("figures"));
  EXPECT_EQ(packed["figures"].get<std::string>().size(), kFigureWidth * values.size());
  const std::vector<Json> back = unpacked_column(packed);
  ASSERT_EQ(back.size(), values.size());
  EXPECT_TRUE(back[0].is_null());
  EXPECT_EQ(back[1], 0.0);
  EXPECT_EQ(back[4], 1e5);  // a carry into the next power of ten
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double wanted = values[i].get<double>();
    EXPECT_NEAR(back[i].get<double>(), wanted, 5.0001e-5 * wanted) << i;
  }
}

TEST(PackedColumn, what_is_no_such_figure_keeps_every_digit) {
  for (const Json& odd : {Json(-1.5), Json("text"), Json(1e200), Json(true)}) {
    std::vector<Json> values;
    for (int i = 0; i < 100; ++i) values.emplace_back(i / 7.0);
    values.push_back(odd);
    EXPECT_EQ(unpacked_column(packed_column(values)), values) << odd;
  }
}

TEST(PackedColumn, infinity_is_null) {
  std::vector<Json> values;
  for (int i = 0; i < 100; ++i) values.emplace_back(i / 7.0);
  values.emplace_back(std::numeric_limits<double>::infinity());
  EXPECT_TRUE(unpacked_column(packed_column(values)).back().is_null());
}

TEST(PackedColumn, a_table_without_rows_has_none) {
  EXPECT_TRUE(unpacked_column(packed_column({})).empty());
}

}  // namespace
}  // namespace attnbench
